import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { installPipeServer } from '../security/support/servers.ts';
import { groupYaml, installServers } from '../support/mcp-servers.ts';
import { eventually } from '../support/processes.ts';
import { startSally, tempFolder } from '../support/sally.ts';

const EVERYTHING = 'npx://@modelcontextprotocol/server-everything@2026.8.31';
const MCP = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

describe('a client of a stateful revision', () => {
  it('can be asked in the middle of a call: a sample, a form', async () => {
    await using sally = await startSally(['run', '-f', '--name', 'everything', EVERYTHING]);
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { sampling: {}, elicitation: { form: {} } } },
    );
    client.setRequestHandler('sampling/createMessage', async () => ({
      role: 'assistant' as const,
      model: 'test-model',
      content: { type: 'text' as const, text: 'a sample of mine' },
    }));
    client.setRequestHandler('elicitation/create', async () => ({ action: 'decline' as const }));
    await client.connect(new StreamableHTTPClientTransport(new URL(sally.endpoints[0]?.url ?? '')));
    const sampled = await client.callTool({
      name: 'trigger-sampling-request',
      arguments: { prompt: 'x', maxTokens: 10 },
    });
    expect(JSON.stringify(sampled.content)).toContain('a sample of mine');
    const asked = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
    expect(JSON.stringify(asked.content)).toMatch(/decline/i);
    await client.close();
  });

  it('is told of progress, and cancels what it does not want any more', async () => {
    await using sally = await startSally(['run', '-f', '--name', 'everything', EVERYTHING]);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(sally.endpoints[0]?.url ?? '')));
    const seen: number[] = [];
    const long = { name: 'trigger-long-running-operation', arguments: { duration: 0.6, steps: 3 } };
    await client.callTool(long, { onprogress: ({ progress }) => seen.push(progress) });
    expect(seen.length).toBeGreaterThanOrEqual(2);
    const cancel = new AbortController();
    const never = client.callTool({ ...long, arguments: { duration: 60, steps: 60 } }, { signal: cancel.signal });
    setTimeout(() => cancel.abort('enough'), 200);
    await expect(never).rejects.toThrow();
    await client.close();
  });

  it('hears of changes while it holds its stream open, and keeps its session over a reload', async () => {
    await using folder = await tempFolder();
    await installServers(folder.path, ['good', 'greets']);
    await writeFile(join(folder.path, 'group.yaml'), groupYaml(['good']));
    await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
    const client = new Client({ name: 'test', version: '1' });
    let changes = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      changes += 1;
    });
    const transport = new StreamableHTTPClientTransport(new URL(sally.endpoints[0]?.url ?? ''));
    await client.connect(transport);
    const session = transport.sessionId;
    expect(session).toMatch(/^[\x21-\x7e]{20,}$/);
    await writeFile(join(folder.path, 'group.yaml'), groupYaml(['good', 'greets']));
    await sally.next('reloaded');
    await eventually(
      () => changes,
      (count) => count > 0,
    );
    expect((await client.listTools()).tools).toHaveLength(6);
    expect(transport.sessionId).toBe(session);
    await client.close();
  });

  it('ends its session with DELETE; afterwards it is unknown', async () => {
    await using sally = await startSally(['run', '-f', '--name', 'everything', EVERYTHING]);
    const url = sally.endpoints[0]?.url ?? '';
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    };
    const opened = await fetch(url, { method: 'POST', headers: MCP, body: JSON.stringify(initialize) });
    await opened.text();
    const headers = { ...MCP, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    const ping = () => fetch(url, { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":2,"method":"ping"}' });
    expect((await ping()).status).toBe(200);
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(204);
    expect((await ping()).status).toBe(404);
    expect((await fetch(url, { headers: { ...headers, accept: 'text/event-stream' } })).status).toBe(404);
  });

  it('comes back to a stream it lost and gets what it missed', async () => {
    await using folder = await tempFolder();
    await installServers(folder.path, ['good']);
    await using sally = await startSally(['run', '-f', 'npx://good'], { cwd: folder.path });
    const url = sally.endpoints[0]?.url ?? '';
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    };
    const opened = await fetch(url, { method: 'POST', headers: MCP, body: JSON.stringify(initialize) });
    await opened.text();
    const headers = { ...MCP, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    const lost = new AbortController();
    const call = { jsonrpc: '2.0', id: 'slow', method: 'tools/call', params: { name: 'slow', arguments: { ms: 600 } } };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(call), signal: lost.signal });
    const reader = answer.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    const [, id] = /^id: (.+)$/m.exec(first) ?? [];
    expect(first).toMatch(/^retry: \d+$/m);
    lost.abort();
    const resumed = await fetch(url, {
      headers: { ...headers, accept: 'text/event-stream', 'last-event-id': id ?? '' },
    });
    expect(await resumed.text()).toContain('"id":"slow"');
  });
});

describe('a client of the stateless revision', () => {
  it('asks a stateful server everything it could ask a stateless one', async () => {
    await using sally = await startSally(['run', '-f', '--name', 'everything', EVERYTHING]);
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    client.setRequestHandler('elicitation/create', async () => ({ action: 'decline' as const }));
    await client.connect(new StreamableHTTPClientTransport(new URL(sally.endpoints[0]?.url ?? '')));
    expect((await client.listTools()).tools.length).toBeGreaterThan(10);
    const echo = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(echo.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
    const asked = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
    expect(JSON.stringify(asked.content)).toMatch(/decline/i);
    await client.close();
  });

  it('is not disturbed by a server that looks at roots in the middle of a call', async () => {
    await using folder = await tempFolder();
    await installPipeServer(folder.path, 'curious', LOOKS_AT_ROOTS);
    await using sally = await startSally(['run', '-f', 'npx://curious'], { cwd: folder.path });
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    client.setRequestHandler('elicitation/create', async () => {
      await sleep(200); // by then the server has asked for the roots
      return { action: 'decline' as const };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(sally.endpoints[0]?.url ?? '')));
    const { content } = await client.callTool({ name: 'say', arguments: {} });
    expect(content).toEqual([{ type: 'text', text: 'the user was asked, there are no roots' }]);
    await client.close();
  });
});

/** Asks its user something, and for the roots while the user thinks. */
const LOOKS_AT_ROOTS = `({ id, method }) => {
  if (method === 'tools/call') {
    global.call = id;
    write({ id: 'form', method: 'elicitation/create', params: { message: 'name?', requestedSchema: { type: 'object', properties: {} } } });
    setTimeout(() => write({ id: 'roots', method: 'roots/list' }), 50);
    return true;
  }
  if (id === 'roots') global.roots = 'there are no roots';
  if (id === 'form') answer(global.call, 'the user was asked, ' + global.roots);
  return method === undefined;
}`;
