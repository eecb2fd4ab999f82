import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gate, startGate, startPassThrough } from './support/gate.ts';
import { startModernServer, startWebServer, type WebServer } from './support/servers.ts';
import {
  connected,
  head,
  heard,
  MCP,
  messageOf,
  modern,
  openSession,
  post,
  raw,
  send,
  textOf,
} from './support/wire.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

let web: WebServer;
let gate: Gate;
let url: URL;
beforeAll(async () => {
  web = await startWebServer();
  gate = await startGate({ web: { web: web.url } });
  url = gate.url;
});
afterAll(async () => {
  try {
    gate.stillWell();
  } finally {
    await gate[Symbol.asyncDispose]();
    await web[Symbol.asyncDispose]();
  }
});

/** Every path that answers anything, with a request that it takes. */
const ROUTES = [
  ['POST', '/mcp'],
  ['GET', '/mcp'],
  ['DELETE', '/mcp'],
  ['GET', '/health'],
  ['GET', '/readyz'],
] as const;

function knock(method: string, path: string, headers: Record<string, string>) {
  return send(url, {
    method,
    path,
    headers: { ...(method === 'POST' ? MCP : {}), ...headers },
    ...(method === 'POST' ? { body: PING } : {}),
  });
}

describe.each(ROUTES)('%s %s', (method, path) => {
  it.each([
    'evil.example',
    'evil.example:4483',
    'localhost.evil.example',
    '127.0.0.1.nip.example',
    '10.0.0.1',
    '0.0.0.0',
    '2130706433',
    '127.1',
    '[::ffff:127.0.0.1]',
    '[fe80::1]',
    'localhost@evil.example',
    'localhost evil.example',
    'localhost,evil.example',
  ])('4. CVE-2025-66414: a foreign Host is refused on every listener: %s', async (host) => {
    expect(await knock(method, path, { host })).toMatchObject({ status: 403 });
  });

  it.each([
    'http://evil.example',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://localhost:80@evil.example',
    'http://evil.example#localhost',
    'http://evil.example/localhost',
    'http://[::ffff:127.0.0.1]',
    'null',
    'file://',
    'chrome-extension://abcdef',
    'localhost',
    '//localhost',
    'http://localhost http://evil.example',
    '',
  ])('5. CVE-2025-66416: a foreign Origin is refused on every listener: %j', async (origin) => {
    expect(await knock(method, path, { host: `localhost:${url.port}`, origin })).toMatchObject({ status: 403 });
  });
});

it.each(['localhost', 'LOCALHOST', 'localhost.', '127.0.0.1', '127.0.0.53', '[::1]', '[0:0:0:0:0:0:0:1]'])(
  '5. CVE-2026-34742: the right host is taken in each spelling, with any port: %s',
  async (host) => {
    for (const port of ['', `:${url.port}`, ':1'])
      expect(await knock('POST', '/mcp', { host: host + port })).toMatchObject({ status: 200 });
  },
);

it('5. GHSA-46gc-mwh4-cc5r: a page of another port is another origin', async () => {
  const from = async (host: string, origin: string) => (await knock('POST', '/mcp', { host, origin })).status;
  const { port } = url;
  for (const name of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST.']) {
    expect(await from(`${name}:${port}`, `http://${name}:${port}`)).toBe(200);
    for (const other of ['', ':80', ':3000', `:${port}0`, ':'])
      expect(await from(`${name}:${port}`, `http://${name}${other}`), other).toBe(403);
  }
});

it('5. CVE-2026-42559: a refusal tells a page nothing it could read, and no page is let in by CORS', async () => {
  for (const origin of ['http://evil.example', 'http://localhost:3000']) {
    const preflight = await send(url, {
      method: 'OPTIONS',
      headers: { host: `localhost:${url.port}`, origin, 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBeGreaterThanOrEqual(400);
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
  }
});

it('5. a request with two Host headers is refused, as RFC 9112 §3.2 asks', async () => {
  const two = await raw(
    url,
    `GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
  );
  expect(two).not.toMatch(/^HTTP\/1\.1 200/);
});

it('5. a request without a Host is refused', async () => {
  expect(await raw(url, 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 40[03]/);
  expect(await raw(url, 'GET /health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 40[03]/);
});

describe('6. CVE-2026-33252: a page cannot post without asking first', () => {
  it.each([
    'text/plain',
    'text/plain; charset=application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    'text/json',
    'application/json-patch+json',
    '',
  ])('a POST of type %j is refused', async (type) => {
    expect((await post(url, PING, { 'content-type': type })).status).toBe(415);
  });

  it('a POST without a type is refused', async () => {
    expect((await send(url, { headers: { accept: MCP.accept }, body: PING })).status).toBe(415);
  });

  it.each(ROUTES)('Sec-Fetch-Site: cross-site is refused, also without an Origin: %s %s', async (method, path) => {
    expect(await knock(method, path, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).toMatchObject({
      status: 403,
    });
  });

  it.each(['same-origin', 'same-site', 'none'])('Sec-Fetch-Site: %s is taken', async (site) => {
    expect((await post(url, PING, { 'sec-fetch-site': site })).status).toBe(200);
  });
});

describe('12. CVE-2026-59950: there is no websocket', () => {
  it.each(['websocket', 'h2c', 'TLS/1.2'])('an upgrade to %s is never taken', async (upgrade) => {
    const answer = await raw(
      url,
      `GET /mcp HTTP/1.1\r\nHost: ${url.host}\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      500,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
    expect(answer).not.toContain(' 101 ');
  });

  it('neither from a foreign page', async () => {
    const answer = await raw(
      url,
      `GET /mcp HTTP/1.1\r\nHost: ${url.host}\r\nOrigin: http://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      500,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 403/);
  });

  it('nor a tunnel', async () => {
    expect(await raw(url, `CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`, 500)).not.toContain(' 200 ');
  });
});

describe('35. CVE-2025-64484: one spelling, one path, and nobody forwards for us', () => {
  it.each([
    '/mcp/../mcp',
    '/./mcp',
    '/x/../mcp',
    '//mcp',
    '/mcp/',
    '/mcp//',
    '/%6dcp',
    '/mc%70',
    '/mcp;x',
    '/mcp;jsessionid=1',
    '/mcp%00',
    '/mcp%2f',
    '/mcp%3f',
    '/mcp#x',
    '/MCP',
    '\\mcp',
    '/mcp\\',
    'http://localhost/mcp',
    'http://evil.example/mcp',
    '*',
  ])('the path %s is nowhere', async (path) => {
    const answer = await raw(
      url,
      `${head(url, { 'Content-Length': String(PING.length), Connection: 'close' }, `POST ${path} HTTP/1.1`)}${PING}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 40[04]/);
  });

  it.each(['/mcp?x=1', '/mcp?/../admin'])('a query changes nothing: %s', async (path) => {
    expect((await send(url, { path, headers: MCP, body: PING })).status).toBe(200);
  });

  it('X-Forwarded-* and their kin are not believed', async () => {
    const forged = {
      'x-forwarded-host': 'localhost',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-uri': '/health',
      'x-original-url': '/health',
      'x-rewrite-url': '/health',
      forwarded: 'host=localhost;for=127.0.0.1',
      'user-agent': 'GoogleHC/1.0',
    };
    expect((await post(url, PING, { ...forged, host: 'evil.example' })).status).toBe(403);
    expect((await post(url, PING, { 'x-forwarded-host': 'evil.example' })).status).toBe(200);
    expect((await send(url, { method: 'GET', path: '/admin', headers: forged })).status).toBe(404);
  });

  it('a header with underscores is not the header with hyphens', async () => {
    const session = await openSession(url);
    expect((await send(url, { method: 'GET', headers: { mcp_session_id: session } })).status).toBe(400);
    const { message, headers } = modern(1, 'tools/list');
    const { 'mcp-method': said, ...others } = headers;
    const answer = await post(url, message, { ...others, mcp_method: said ?? '' });
    expect(answer.status).toBe(400);
    expect(messageOf(answer).error?.code).toBe(-32020);
  });

  it('what a client sends beside the message does not reach a server', async () => {
    const session = await openSession(url);
    const sent = {
      cookie: 'a=b',
      'proxy-authorization': 'Basic eA==',
      'x-forwarded-for': '10.0.0.1',
      x_forwarded_for: '10.0.0.1',
      mcp_param_x: '1',
      'mcp-param-x': '1',
      'x-user': 'admin',
      remote_user: 'admin',
      te: 'trailers',
      'mcp-session-id': session,
    };
    const before = web.seen.length;
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'web_say', arguments: { text: 'a' } } };
    expect(textOf(await post(url, call, sent))).toBe('a');
    const seen = web.seen.slice(before);
    expect(seen.length).toBeGreaterThan(0);
    for (const headers of seen) {
      for (const name of Object.keys(sent)) if (name !== 'mcp-session-id') expect(headers).not.toHaveProperty(name);
      expect(headers['mcp-session-id']).not.toBe(session);
    }
  });
});

describe('36. CVE-2025-48865: Connection takes no header away', () => {
  it('neither Host, Origin nor the headers that repeat the body', async () => {
    const { message, headers } = modern(1, 'tools/list');
    const drop = { connection: 'close, Host, Origin, Content-Type, Mcp-Method, Mcp-Protocol-Version, Mcp-Session-Id' };
    expect((await post(url, PING, { ...drop, origin: 'http://evil.example' })).status).toBe(403);
    expect((await post(url, PING, { ...drop, host: 'evil.example' })).status).toBe(403);
    expect((await post(url, PING, { ...drop, 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(url, PING, { ...drop, 'mcp-session-id': 'invented' })).status).toBe(404);
    const lie = await post(url, message, { ...headers, ...drop, 'mcp-method': 'ping' });
    expect(messageOf(lie).error?.code).toBe(-32020);
    expect((await post(url, message, { ...headers, ...drop })).status).toBe(200);
  });

  it('and hop-by-hop headers end here, also towards a server that gets headers of the client', async () => {
    await using server = await startModernServer();
    await using single = await startPassThrough(server.url);
    const { message, headers } = modern(1, 'tools/call', { name: 'say', arguments: { text: 'a' } });
    const before = server.seen.length;
    const hops = {
      connection: 'keep-alive, x-private',
      'x-private': '1',
      'keep-alive': 'timeout=1',
      te: 'trailers',
      trailer: 'x-t',
      'proxy-connection': 'keep-alive',
      'mcp-param-kept': 'yes',
    };
    expect(textOf(await post(single.url, message, { ...headers, ...hops }))).toBe('a');
    const seen = server.seen.slice(before);
    expect(seen.length).toBeGreaterThan(0);
    for (const got of seen) {
      for (const name of ['x-private', 'te', 'trailer', 'proxy-connection', 'upgrade'])
        expect(got).not.toHaveProperty(name);
      expect(got.connection ?? '').not.toContain('x-private');
    }
  });

  it.each([
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 40'],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['chunks not last', 'Transfer-Encoding: chunked, gzip'],
    ['a folded header', 'X-A: b\r\n c: d'],
    ['a space before the colon', 'Content-Length : 40'],
  ])('a request that two readers would cut differently is refused: %s', async (_what, lines) => {
    const answer = await raw(
      url,
      `POST /mcp HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nAccept: ${MCP.accept}\r\n${lines}\r\n\r\n${PING}`,
      500,
    );
    expect(answer).not.toMatch(/^HTTP\/1\.1 2/);
  });
});

describe('13. CVE-2025-53365: malformed requests cost their own connection and nothing else', () => {
  it('a connection that was refused is let go, also when the other side keeps it open', async () => {
    const socket = await connected(url);
    socket.write('NONSENSE\r\n\r\n');
    expect(await heard(socket, 1_000)).toMatch(/^HTTP\/1\.1 400/);
    const cut = new Promise<string>((resolve) => socket.once('close', () => resolve('cut')));
    for (let count = 0; count < 20 && !socket.destroyed; count++) {
      socket.write('more of it\r\n');
      await sleep(100);
    }
    const seen = await Promise.race([cut, sleep(500, 'still open')]);
    socket.destroy();
    expect(seen).toBe('cut');
  });

  it('headers over the limit are refused by their own name', async () => {
    const answer = await raw(url, head(url, { 'X-Large': 'x'.repeat(40_000) }), 1_000);
    expect(answer).toMatch(/^HTTP\/1\.1 431/);
  });

  it('pipelined requests are answered in order, each with its own id', async () => {
    const one = (id: number): string => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: id % 2 ? 'ping' : 'tools/list' });
      return `${head(url, { 'Content-Length': String(body.length), ...(id === 50 ? { Connection: 'close' } : {}) })}${body}`;
    };
    const text = await raw(url, Array.from({ length: 50 }, (_, index) => one(index + 1)).join(''), 5_000);
    const ids = [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  it('a client that breaks off is no bug of ours: the log does not cry for help', async () => {
    await using own = await startGate({ web: { web: web.url } });
    const socket = await connected(own.url);
    socket.write(`${head(own.url, { 'Content-Length': '100' })}{`);
    await sleep(50);
    socket.destroy();
    await sleep(100);
    expect(own.sally.stderr()).not.toContain('met a bug');
  });

  it('half requests that break off leave nothing behind', async () => {
    const whole = `${head(url, { 'Content-Length': String(PING.length) })}${PING}`;
    const sockets = await Promise.all(Array.from({ length: 40 }, () => connected(url)));
    sockets.forEach((socket, index) => {
      socket.write(whole.slice(0, Math.floor((whole.length * (index + 1)) / 41)));
    });
    await sleep(50);
    for (const socket of sockets) socket.destroy();
    expect((await post(url, PING)).status).toBe(200);
  });
});
