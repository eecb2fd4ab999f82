import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { BackendPlan } from '../../src/plan/index.ts';
import { messageOf, modern, openSession, post } from '../security/support/wire.ts';
import { emptyPlan, startGateways } from '../support/gateways.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Starts to answer each call of its tool with a stream, and never ends one. */
async function startEndless(era: 'legacy' | 'modern') {
  const open = { answers: 0, told: [] as string[] };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(body);
    open.told.push(method);
    const answer = (result: object): void =>
      void response
        .writeHead(200, { 'content-type': 'application/json', ...(era === 'legacy' ? { 'mcp-session-id': 's' } : {}) })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'server/discover' && era === 'modern')
      return answer({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
    if (method === 'initialize' && era === 'legacy')
      return answer({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      });
    if (method === 'tools/list')
      return answer({ resultType: 'complete', tools: [{ name: 'wait', inputSchema: { type: 'object' } }] });
    if (method !== 'tools/call') return void response.writeHead(404).end();
    open.answers += 1;
    response.on('close', () => {
      open.answers -= 1;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': it begins\n\n');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { open, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
}

async function startGate(url: string, timeout: number) {
  const backend: BackendPlan = {
    name: 'endless',
    target: { kind: 'streamable-http', url, addresses: 'private', headers: {} },
    credential: { kind: 'none' },
    revision: 'auto',
    timeout,
    breaker: { enabled: false, threshold: 5, timeout: 30_000 },
    health: { interval: 30_000, timeout: 5_000, threshold: 3 },
  };
  const gate = await startGateways([{ ...emptyPlan('gate', { kind: 'anonymous' }), backends: [backend] }]);
  return { url: new URL('/mcp', gate.url), [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose]() };
}

const CALL = modern(1, 'tools/call', { name: 'endless_wait', arguments: {} });

describe.each(['legacy', 'modern'] as const)('a server (%s) whose answer streams and does not end', (era) => {
  it('is given up when its time is over, and hears of it', async () => {
    const { open, url } = await startEndless(era);
    await using gate = await startGate(url, 300);
    const answer = messageOf(await post(gate.url, CALL.message, CALL.headers));
    expect(answer.error?.message).toBe('the server endless did not answer in time');
    await expect.poll(() => open.answers).toBe(0);
  });

  it('is left when the client leaves', async () => {
    const { open, url } = await startEndless(era);
    await using gate = await startGate(url, 30_000);
    const leave = new AbortController();
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const calling = fetch(gate.url, {
      method: 'POST',
      headers: { ...headers, ...CALL.headers } as Record<string, string>,
      body: JSON.stringify(CALL.message),
      signal: leave.signal,
    });
    await expect.poll(() => open.answers).toBe(1);
    leave.abort();
    await expect(calling).rejects.toThrow();
    await expect.poll(() => open.answers).toBe(0);
  });

  it('is left when the client of a session cancels the call', async () => {
    const { open, url } = await startEndless(era);
    await using gate = await startGate(url, 30_000);
    const session = { 'mcp-session-id': await openSession(gate.url) };
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'endless_wait', arguments: {} } };
    const calling = post(gate.url, message, session);
    await expect.poll(() => open.answers).toBe(1);
    await post(gate.url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, session);
    await calling;
    await expect.poll(() => open.answers).toBe(0);
    if (era === 'legacy') expect(open.told).toContain('notifications/cancelled');
  });
});

it('an answer whose connection is cut goes on where it was', async () => {
  let call: unknown;
  let asked: string | undefined;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const stream = { 'content-type': 'text/event-stream' };
    if (request.method === 'GET' && request.headers['last-event-id'] === undefined)
      return void response.writeHead(405).end();
    if (request.method === 'GET') {
      asked = String(request.headers['last-event-id']);
      const result = { content: [{ type: 'text', text: 'whole' }] };
      return void response
        .writeHead(200, stream)
        .end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: call, result })}\n\n`);
    }
    const { id, method } = JSON.parse(body || '{}');
    const answer = (result: object): void =>
      void response
        .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'server/discover') return void response.writeHead(404).end();
    if (method === 'initialize')
      return answer({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      });
    if (method === 'tools/list') return answer({ tools: [{ name: 'wait', inputSchema: { type: 'object' } }] });
    call = id;
    response.writeHead(200, stream);
    response.write('id: here\nretry: 10\ndata:\n\n', () => response.destroy());
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await using gate = await startGate(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, 10_000);
  const answer = messageOf(await post(gate.url, CALL.message, CALL.headers));
  expect({ answer, asked }).toMatchObject({ asked: 'here', answer: { result: { content: [{ text: 'whole' }] } } });
});
