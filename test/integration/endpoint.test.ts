import { writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupYaml, installServers } from '../support/mcp-servers.ts';
import { type RunningSally, startSally, type TempFolder, tempFolder } from '../support/sally.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

describe('the HTTP surface', () => {
  let folder: TempFolder;
  let sally: RunningSally;
  let url: URL;
  beforeAll(async () => {
    folder = await tempFolder();
    await installServers(folder.path, ['good']);
    await writeFile(join(folder.path, 'group.yaml'), groupYaml(['good']));
    sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
    url = new URL(sally.endpoints[0]?.url ?? '');
  });
  afterAll(async () => {
    await sally.stop();
    await folder[Symbol.asyncDispose]();
  });

  const MCP = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

  function send(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({ host: url.hostname, port: url.port, method, path, headers }, async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
      });
      request.once('error', reject);
      request.end(body);
    });
  }
  const post = (body: string, headers: Record<string, string> = {}) =>
    send('POST', '/mcp', { ...MCP, ...headers }, body);

  it('agrees on the revision the client asks for, else offers its newest', async () => {
    const initialize = (protocolVersion: string) =>
      post(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion, capabilities: {}, clientInfo: {} },
        }),
      );
    expect((await initialize('2025-06-18')).body).toContain('"protocolVersion":"2025-06-18"');
    expect((await initialize('1999-01-01')).body).toContain('"protocolVersion":"2025-11-25"');
    expect(JSON.parse((await initialize('2025-11-25')).body)).toMatchObject({
      id: 1,
      result: { capabilities: { tools: {} }, serverInfo: { name: 'test' } },
    });
  });

  it('accepts a notification with 202 and no body', async () => {
    expect(await post('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toMatchObject({
      status: 202,
      body: '',
    });
  });

  it('answers in the id of the caller, text or number', async () => {
    expect(JSON.parse((await post(PING)).body)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    expect(JSON.parse((await post(PING.replace('1,', '"one",'))).body)).toEqual({
      jsonrpc: '2.0',
      id: 'one',
      result: {},
    });
  });

  it.each([
    ['GET', '/mcp', 400],
    ['DELETE', '/mcp', 400],
    ['PUT', '/mcp', 405],
    ['GET', '/', 404],
    ['POST', '/other/mcp', 404],
    ['POST', '/mcp/', 404],
    ['POST', '//mcp', 404],
    ['POST', '/%6dcp', 404],
    ['GET', '/health', 200],
    ['GET', '/readyz', 200],
    ['POST', '/health', 405],
  ])('%s %s is %d', async (method, path, status) => {
    const answer = await send(method, path, method === 'POST' ? MCP : {});
    expect(answer.status).toBe(status);
    if (status === 405 && path === '/mcp') expect(answer.headers.allow).toBe('POST, GET, DELETE');
  });

  it('health says nothing about what is behind', async () => {
    expect((await send('GET', '/health')).body).toBe('{"status":"ok"}\n');
  });

  it.each([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['plain text', { 'content-type': 'text/plain' }, 415],
    ['a client that takes no event stream', { accept: 'application/json' }, 406],
    ['a revision we do not speak', { 'mcp-protocol-version': '1999-01-01' }, 400],
    ['a foreign host', { host: 'evil.example' }, 403],
    ['a foreign origin', { origin: 'http://evil.example' }, 403],
    ['a body over the limit', { 'content-length': String(9 * 1024 * 1024) }, 413],
  ])('refuses %s', async (_what, headers, status) => {
    expect((await post(PING, headers)).status).toBe(status);
  });

  it.each(['/health', '/readyz', '/mcp'])('refuses a foreign host at %s', async (path) => {
    expect((await send(path === '/mcp' ? 'POST' : 'GET', path, { ...MCP, host: 'evil.example' })).status).toBe(403);
  });

  it('stops reading a body without a declared length at the limit', async () => {
    const answer = await new Promise<number>((resolve, reject) => {
      const request = httpRequest({ host: url.hostname, port: url.port, method: 'POST', path: '/mcp', headers: MCP });
      request.once('response', (response) => resolve(response.statusCode ?? 0));
      request.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'EPIPE' || error.code === 'ECONNRESET' ? resolve(413) : reject(error),
      );
      const chunk = Buffer.alloc(1024 * 1024, 0x20);
      for (let sent = 0; sent < 12; sent++) request.write(chunk);
      request.end();
    });
    expect(answer).toBe(413);
  });

  it.each([
    ['{', 400, -32700],
    ['[]', 400, -32600],
    ['{"jsonrpc":"2.0","id":1}', 400, -32600],
    ['{"jsonrpc":"2.0","id":5,"method":"no/such"}', 200, -32601],
    ['{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7}}', 200, -32602],
    ['{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"good_nothing"}}', 200, -32602],
    ['{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"pid"}}', 200, -32602],
    ['{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"__proto__"}}', 200, -32602],
  ])('answers %s with a JSON-RPC error', async (body, status, code) => {
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.any(String) } });
  });

  it('takes batches from clients of 2025-03-26 and from no others', async () => {
    const batch = `[${PING},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":"t","method":"tools/list"}]`;
    const answer = await post(batch, { 'mcp-protocol-version': '2025-03-26' });
    expect(JSON.parse(answer.body)).toMatchObject([
      { id: 1, result: {} },
      { id: 't', result: { tools: [{}, {}, {}] } },
    ]);
    expect((await post(batch, { 'mcp-protocol-version': '2025-11-25' })).status).toBe(400);
    expect((await post('[{"jsonrpc":"2.0","method":"notifications/initialized"}]')).status).toBe(202);
    expect((await post(`[${Array(101).fill(PING).join(',')}]`)).status).toBe(400);
  });

  it('tells a caller that a server is away without telling where it was', async () => {
    const call = '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"good_pid"}}';
    const { result } = JSON.parse((await post(call)).body) as { result: { content: { text: string }[] } };
    process.kill(Number(result.content[0]?.text), 'SIGKILL');
    // Started again by the supervisor: the next call waits for it, or says that it is not there yet.
    const next = await post(call);
    expect(next.body).not.toContain(folder.path);
    expect(JSON.parse(next.body)).toMatchObject({ id: 5 });
  });

  it('a client that goes away does not disturb the others', async () => {
    const slow = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'good_slow', arguments: { ms: 200 } } };
    const leaver = httpRequest({ host: url.hostname, port: url.port, method: 'POST', path: '/mcp', headers: MCP });
    leaver.on('error', () => {});
    leaver.end(JSON.stringify(slow));
    setTimeout(() => leaver.destroy(), 50);
    expect(JSON.parse((await post(JSON.stringify({ ...slow, id: 2 }))).body)).toMatchObject({ id: 2, result: {} });
  });
});
