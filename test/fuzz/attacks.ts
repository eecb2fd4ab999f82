import { setTimeout as sleep } from 'node:timers/promises';
import { connected, head, heard, MCP, modern, openSession, post, send } from '../security/support/wire.ts';
import type { Random } from './random.ts';

/** One thing that somebody does to the endpoint. It may fail in any way; the gateway must not. */
export type Attack = (url: URL, random: Random) => Promise<unknown>;

const METHODS = [
  ...['initialize', 'ping', 'tools/list', 'tools/call', 'resources/read', 'resources/subscribe', 'prompts/get'],
  ...['completion/complete', 'logging/setLevel', 'subscriptions/listen', 'server/discover', 'tasks/get', '__proto__'],
  ...['notifications/cancelled', 'notifications/initialized', 'notifications/roots/list_changed', '', 'a\r\nb: c', '☃'],
];
const TOOLS = ['good_say', 'pipe_say', 'liar_say', 'rude_say', 'none', '', '__proto__', 'x'.repeat(10_000)];
const IDS = [0, 1, -1, 'a', '', null, 1.5, 1e308, 9_007_199_254_740_992, {}, [], true, 'x'.repeat(5_000)];
const MEGABYTE = 1024 * 1024;

/** A message that may be right, wrong or absurd. */
function anyMessage(random: Random): Record<string, unknown> {
  const message: Record<string, unknown> = { jsonrpc: random.pick(['2.0', '2.0', '2.0', '1.0', 2]) };
  if (random.below(5) > 0) message.id = random.pick(IDS);
  if (random.below(8) > 0) message.method = random.pick(METHODS);
  if (random.below(4) > 0) message.params = anyParams(random);
  if (random.below(10) === 0) message.result = random.pick([{}, 7, null, { content: [] }]);
  if (random.below(10) === 0) message.error = random.pick([{}, { code: 1, message: 'x' }, 'x']);
  return message;
}

function anyParams(random: Random): unknown {
  return random.pick<() => unknown>([
    () => ({}),
    () => ({ name: random.pick(TOOLS), arguments: { text: 'x' } }),
    () => ({ name: random.pick(TOOLS), arguments: { text: 'x' }, _meta: { progressToken: random.pick(IDS) } }),
    () => ({ name: random.pick(TOOLS), requestState: random.bytes(60).toString('base64url'), inputResponses: {} }),
    () => ({ uri: random.pick(['x://y', '', 7, 'x'.repeat(100_000)]) }),
    () => ({ requestId: random.pick(IDS), cursor: random.bytes(9).toString('base64') }),
    () => ({ notifications: { toolsListChanged: true, resourceSubscriptions: ['x://y'] } }),
    () => ({ protocolVersion: random.pick(['2025-11-25', '2026-07-28', '', 7]), capabilities: random.pick([{}, 7]) }),
    () => ({ ref: { type: 'ref/prompt', name: 'x' }, level: random.pick(['debug', 'x', 7]) }),
    () => random.pick([[], 'x', 7, null]),
  ])();
}

function anyHeaders(random: Random): Record<string, string> {
  const headers: Record<string, string> = { ...MCP };
  const maybe = (name: string, values: readonly string[]): void => {
    if (random.below(4) === 0) headers[name] = random.pick(values);
  };
  maybe('mcp-session-id', ['x', '', 'a'.repeat(5_000)]);
  maybe('mcp-protocol-version', ['2025-11-25', '2026-07-28', '2024-11-05', 'x', '9999-99-99']);
  maybe(
    'mcp-method',
    METHODS.filter((method) => /^[\x21-\x7e]+$/.test(method)),
  );
  maybe('mcp-name', ['good_say', '=?base64?!!?=', '=?base64?YQ==?=']);
  maybe('last-event-id', ['0-1', '999999999-999999999', '-', 'x']);
  maybe('content-type', ['text/plain', 'application/json; charset=utf-7', '']);
  maybe('accept', ['*/*', 'text/html', '']);
  maybe('origin', ['http://evil.example', 'null', 'http://localhost']);
  maybe('host', ['evil.example', 'localhost', '[::1]', '']);
  maybe('sec-fetch-site', ['cross-site', 'none']);
  maybe('connection', ['close', 'close, host, content-type', 'upgrade']);
  maybe('expect', ['100-continue', 'x']);
  maybe('transfer-encoding', ['identity', 'gzip']);
  return headers;
}

/** The bytes of a request that is right. */
function whole(url: URL, body: string, extra: Readonly<Record<string, string>> = {}): string {
  return `${head(url, { 'Content-Length': String(Buffer.byteLength(body)), ...extra })}${body}`;
}

/** Sends bytes, waits a moment for whatever comes, and leaves. */
async function throwBytes(url: URL, bytes: string | Buffer, wait: number): Promise<void> {
  const socket = await connected(url);
  socket.write(bytes);
  await heard(socket, wait);
  socket.destroy();
}

/** Gives up after a while: some of these are never answered, and need not be. */
async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  return await Promise.race([promise, sleep(milliseconds, undefined, { ref: false })]);
}

export const ATTACKS: Readonly<Record<string, Attack>> = {
  async 'random messages and headers'(url, random) {
    for (let count = 0; count < 10; count++)
      await within(
        send(url, {
          method: random.pick(['POST', 'POST', 'POST', 'POST', 'GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD']),
          headers: { ...anyHeaders(random), connection: 'close' },
          body: JSON.stringify(anyMessage(random)),
        }).catch(() => {}),
        300,
      );
  },

  async 'random messages in a session'(url, random) {
    const capabilities = random.pick([{}, { elicitation: {} }, { sampling: {}, roots: {} }]);
    const session = await openSession(url, { capabilities });
    const stream = await connected(url);
    stream.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nMcp-Session-Id: ${session}\r\n\r\n`);
    for (let count = 0; count < 10; count++)
      await within(post(url, anyMessage(random), { 'mcp-session-id': session }), 300);
    stream.destroy();
    if (random.below(2)) await send(url, { method: 'DELETE', headers: { 'mcp-session-id': session } });
  },

  async 'random messages of the stateless revision'(url, random) {
    for (let count = 0; count < 10; count++) {
      const method = random.pick(METHODS.filter((name) => /^[\x21-\x7e]+$/.test(name)));
      const params = anyParams(random);
      const capabilities = random.pick([{}, { elicitation: { form: {} } }, { sampling: {} }]);
      const { message, headers } = modern(count, method, params instanceof Object ? { ...params } : {}, capabilities);
      await within(
        post(url, message, headers).catch(() => {}),
        300,
      );
    }
  },

  async 'half frames'(url, random) {
    const bytes = whole(url, '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pipe_say"}}');
    await throwBytes(url, bytes.slice(0, random.below(bytes.length)), random.below(100));
  },

  async 'flipped bytes'(url, random) {
    const bytes = Buffer.from(whole(url, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', { Connection: 'close' }));
    for (let count = 0; count <= random.below(8); count++) bytes[random.below(bytes.length)] = random.below(256);
    await throwBytes(url, bytes, 100);
  },

  async 'bytes that are no HTTP'(url, random) {
    await throwBytes(url, random.bytes(1 + random.below(5_000)), 100);
  },

  async 'invalid UTF-8'(url, random) {
    const body = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"'),
      random.bytes(1 + random.below(200)),
      Buffer.from('"}}'),
    ]);
    await send(url, { headers: MCP, body });
  },

  async '64 MB, declared'(url, random) {
    const socket = await connected(url);
    socket.write(head(url, { 'Content-Length': String(64 * MEGABYTE) }));
    const chunk = Buffer.alloc(MEGABYTE, 0x20);
    for (let sent = 0; sent < 64 && !socket.destroyed && socket.writable; sent++)
      if (!socket.write(chunk)) await sleep(5);
    await sleep(random.below(100));
    socket.destroy();
  },

  async '64 MB, undeclared'(url, random) {
    const socket = await connected(url);
    socket.write(head(url, { 'Transfer-Encoding': 'chunked' }));
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MEGABYTE, 0x20), Buffer.from('\r\n')]);
    for (let sent = 0; sent < 64 && !socket.destroyed && socket.writable; sent++)
      if (!socket.write(chunk)) await sleep(5);
    await sleep(random.below(100));
    socket.destroy();
  },

  async 'bodies just below the limit'(url, random) {
    const filler = random.pick(['[', '{"a":', '"\\"', '1,', ' ', '"a":1,', '\\u0000']);
    const text = filler.repeat(Math.floor((7 * MEGABYTE) / filler.length));
    await within(post(url, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${text}}}`), 5_000);
  },

  async 'slow loris'(url, random) {
    const bytes = whole(url, '{"jsonrpc":"2.0","id":1,"method":"ping"}');
    const sockets = await Promise.all(Array.from({ length: 5 }, () => connected(url)));
    for (let at = 0; at < 20; at++) {
      for (const socket of sockets) socket.write(bytes[at] ?? '');
      await sleep(20 + random.below(50));
    }
    for (const socket of sockets) socket.destroy();
  },

  async 'deep nesting'(url, random) {
    const depth = 10 ** (1 + random.below(6));
    const [open, close] = random.pick([
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"a":', '}]'],
    ] as const);
    const text = `${open.repeat(depth)}1${close.repeat(random.pick([depth, depth - 1, 0]))}`;
    await post(url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good_say","arguments":${text}}}`);
  },

  async 'huge numbers'(url, random) {
    const number = random.pick([
      '1e999',
      '-1e999',
      '9'.repeat(100_000),
      `0.${'1'.repeat(100_000)}`,
      '1E+1000000',
      '-0',
    ]);
    const params = `{"name":"good_say","arguments":{"text":${number}},"_meta":{"progressToken":${number}}}`;
    await post(url, `{"jsonrpc":"2.0","id":${random.pick(['1', number])},"method":"tools/call","params":${params}}`);
  },

  async batches(url, random) {
    const batch = Array.from({ length: random.pick([0, 1, 5, 100, 1_000]) }, () => anyMessage(random));
    await within(post(url, batch), 2_000);
  },

  async 'keys twice, in other letters, with NULs'(url, random) {
    const spell = (name: string): string =>
      random.pick([
        name,
        name.toUpperCase(),
        `${name}\\u0000`,
        `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
      ]);
    const members = ['jsonrpc', 'id', 'method', 'params', 'method', 'id'].map(
      (name) =>
        `"${spell(name)}":${random.pick(['"2.0"', '1', '"ping"', '"tools/call"', '{}', '{"name":"good_say"}'])}`,
    );
    await post(url, `{${members.slice(random.below(4)).join(',')}}`);
  },

  async pipelining(url, random) {
    const count = 10 + random.below(200);
    const all = Array.from({ length: count }, () => whole(url, JSON.stringify(anyMessage(random)))).join('');
    await throwBytes(url, all, 500);
  },

  async 'calls that nobody waits for'(url, random) {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: random.pick(TOOLS), arguments: {} } };
    const { message, headers } = modern(1, 'tools/call', call.params, { elicitation: { form: {} } });
    const bytes = random.below(2) ? whole(url, JSON.stringify(call)) : whole(url, JSON.stringify(message), headers);
    await throwBytes(url, bytes, random.below(60));
  },

  async 'readers that do not read'(url, random) {
    const session = await openSession(url);
    const sockets = await Promise.all(Array.from({ length: 3 }, () => connected(url)));
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'rude_say', arguments: {} } };
    for (const socket of sockets) {
      socket.pause();
      socket.write(whole(url, JSON.stringify(call), { 'Mcp-Session-Id': session }));
    }
    await sleep(random.below(500));
    for (const socket of sockets) socket.destroy();
  },
};
