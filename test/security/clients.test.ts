import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSessions, type Sessions } from '../../src/gateway/clients/sessions.ts';
import { type Gate, startGate, startPassThrough } from './support/gate.ts';
import { startModernServer, startWebServer, type WebServer } from './support/servers.ts';
import { connected, head, heard, MCP, messageOf, modern, openSession, post, send, textOf } from './support/wire.ts';

let web: WebServer;
let fresh: WebServer;
let gate: Gate;
let url: URL;
beforeAll(async () => {
  web = await startWebServer();
  fresh = await startModernServer();
  // Answers come back in another order than the questions went out.
  const pipe = `({ id, method, params }) => {
    if (method !== 'tools/call') return false;
    setTimeout(() => answer(id, String(params.arguments?.text)), Math.random() * 20);
    return true;
  }`;
  gate = await startGate({ web: { web: web.url, fresh: fresh.url }, pipes: { pipe } });
  url = gate.url;
});
afterAll(async () => {
  try {
    gate.stillWell();
  } finally {
    await gate[Symbol.asyncDispose]();
    await web[Symbol.asyncDispose]();
    await fresh[Symbol.asyncDispose]();
  }
});

describe('7. CVE-2026-25536: 200 clients with equal ids each get their own answers', () => {
  const CLIENTS = 200;
  const everybody = <T>(one: (client: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: CLIENTS }, (_, client) => one(client)));
  const call = (id: string | number, name: string, text: string) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: { text }, _meta: { progressToken: 1 } },
  });

  it.each(['web_say', 'fresh_say', 'pipe_say'])('in sessions, calling %s', async (tool) => {
    const sessions = await everybody(() => openSession(url));
    expect(new Set(sessions).size).toBe(CLIENTS);
    for (const id of [1, 'one', 0]) {
      const texts = await everybody(async (client) => {
        const answer = await post(url, call(id, tool, `${client}-${id}`), { 'mcp-session-id': sessions[client] ?? '' });
        expect(messageOf(answer).id).toBe(id);
        return textOf(answer);
      });
      expect(texts).toEqual(Array.from({ length: CLIENTS }, (_, client) => `${client}-${id}`));
    }
    await everybody((client) => send(url, { method: 'DELETE', headers: { 'mcp-session-id': sessions[client] ?? '' } }));
  });

  it.each(['web_say', 'fresh_say', 'pipe_say'])('without a session, calling %s', async (tool) => {
    const texts = await everybody(async (client) => textOf(await post(url, call(1, tool, `plain ${client}`))));
    expect(texts).toEqual(Array.from({ length: CLIENTS }, (_, client) => `plain ${client}`));
  });

  it.each(['web_say', 'fresh_say', 'pipe_say'])('of the stateless revision, calling %s', async (tool) => {
    const texts = await everybody(async (client) => {
      const { message, headers } = modern(1, 'tools/call', { name: tool, arguments: { text: `modern ${client}` } });
      const answer = await post(url, message, headers);
      expect(messageOf(answer).id).toBe(1);
      return textOf(answer);
    });
    expect(texts).toEqual(Array.from({ length: CLIENTS }, (_, client) => `modern ${client}`));
  });

  it('also when half of them leave in the middle', async () => {
    const body = (client: number): string => JSON.stringify(call(1, 'pipe_say', `leaver ${client}`));
    const texts = await everybody(async (client) => {
      if (client % 2 === 0) return textOf(await post(url, body(client)));
      const socket = await connected(url);
      socket.write(`${head(url, { 'Content-Length': String(Buffer.byteLength(body(client))) })}${body(client)}`);
      setTimeout(() => socket.destroy(), Math.random() * 20);
      return `leaver ${client}`;
    });
    expect(texts).toEqual(Array.from({ length: CLIENTS }, (_, client) => `leaver ${client}`));
  });
});

describe('10. CVE-2026-52869: a session belongs to who opened it', () => {
  const fields = { owner: 'alice', revision: '2025-11-25', capabilities: {}, info: undefined };
  const quiet = (): Sessions => createSessions({ now: Date.now, ended: () => {} });

  it('somebody else with its id finds nothing, and the owner goes on', () => {
    const sessions = quiet();
    const session = sessions.open({ ...fields, principal: 'alice' });
    for (const thief of ['bob', 'anonymous', '', 'alice ', 'Alice', 'alice\0'])
      expect(() => sessions.find(session.id, thief)).toThrow(expect.objectContaining({ code: 'call.session_unknown' }));
    expect(sessions.find(session.id, 'alice')).toBe(session);
    sessions.close();
  });

  it('it looks to the thief like one that was never there', () => {
    const sessions = quiet();
    const { id } = sessions.open({ ...fields, principal: 'alice' });
    const refusal = (name: string): unknown => {
      try {
        return sessions.find(name, 'bob');
      } catch (error) {
        const { code, message } = error as { code: string; message: string };
        return { code, message };
      }
    };
    expect(refusal(id)).toEqual(refusal('invented'));
    sessions.close();
  });

  it.each(['invented', '', '__proto__', 'session-1', `${'A'.repeat(24)}, ${'B'.repeat(24)}`])(
    'the invented id %j is 404 for every method',
    async (id) => {
      const headers = { ...MCP, 'mcp-session-id': id };
      const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
      expect((await send(url, { headers, body })).status).toBe(404);
      expect((await send(url, { method: 'GET', headers })).status).toBe(404);
      expect((await send(url, { method: 'DELETE', headers })).status).toBe(404);
    },
  );

  it('an ended session stays ended, and others go on', async () => {
    const [one, two] = [await openSession(url), await openSession(url)];
    expect((await send(url, { method: 'DELETE', headers: { 'mcp-session-id': one } })).status).toBe(204);
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    expect((await post(url, ping, { 'mcp-session-id': one })).status).toBe(404);
    expect((await post(url, ping, { 'mcp-session-id': two })).status).toBe(200);
  });

  it('the events of one session cannot be fetched through another', async () => {
    const [one, two] = [await openSession(url), await openSession(url)];
    const socket = await connected(url);
    socket.write(
      `GET /mcp HTTP/1.1\r\nHost: ${url.host}\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${one}\r\n\r\n`,
    );
    const text = await heard(socket, 200);
    const eventId = /^id: (\S+)$/m.exec(text)?.[1];
    expect(eventId).toBeDefined();
    const answer = await send(url, {
      method: 'GET',
      headers: { accept: 'text/event-stream', 'mcp-session-id': two, 'last-event-id': eventId ?? '' },
    });
    expect(answer.status).toBe(404);
    socket.destroy();
  });
});

describe('11. CVE-2026-52870: there are no tasks to take from others', () => {
  const METHODS = ['tasks/list', 'tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update'];

  it('they are not announced', async () => {
    const initialize = { protocolVersion: '2025-11-25', capabilities: { tasks: {} }, clientInfo: {} };
    const hello = await post(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize });
    expect(messageOf(hello).result?.capabilities).not.toHaveProperty('tasks');
    const { message, headers } = modern(1, 'server/discover');
    expect(messageOf(await post(url, message, headers)).result?.capabilities).not.toHaveProperty('tasks');
  });

  it.each(METHODS)('%s reaches no server', async (method) => {
    const before = [web, fresh].map(({ messages }) => messages.length);
    const session = { 'mcp-session-id': await openSession(url) };
    const params = { taskId: 'task-of-somebody' };
    expect(messageOf(await post(url, { jsonrpc: '2.0', id: 1, method, params }, session)).error?.code).toBe(-32601);
    expect(messageOf(await post(url, { jsonrpc: '2.0', id: 1, method, params })).error?.code).toBe(-32601);
    const { message, headers } = modern(1, method, params);
    const answer = await post(url, message, { ...headers, 'mcp-name': 'task-of-somebody' });
    expect(answer.status).toBe(404);
    const reached = [web, fresh].flatMap(({ messages }, index) => messages.slice(before[index]));
    expect(reached.filter((seen) => seen.method.startsWith('tasks/'))).toEqual([]);
  });
});

describe('33. CVE-2025-6515: session ids cannot be guessed', () => {
  const COUNT = 4_096;
  const ids = (): Buffer[] => {
    const sessions = createSessions({ now: Date.now, ended: () => {} });
    const made = Array.from({ length: COUNT }, () =>
      Buffer.from(
        sessions.open({ principal: 'a', owner: 'a', revision: '2025-11-25', capabilities: {}, info: undefined }).id,
        'base64url',
      ),
    );
    sessions.close();
    return made;
  };

  it('they are at least 128 bits of visible characters, and never repeat', async () => {
    const made = ids();
    for (const id of made) expect(id.length * 8).toBeGreaterThanOrEqual(128);
    expect(new Set(made.map((id) => id.toString('hex'))).size).toBe(COUNT);
    expect(await openSession(url)).toMatch(/^[\x21-\x7e]{22,}$/);
  });

  it('each bit is as often one as zero, and says nothing about the same bit of the next id', () => {
    const made = ids();
    // Five standard deviations on some 150 bits and as many pairs: a fair coin fails this less than once in 5,000 runs.
    const allowed = 5 * Math.sqrt(COUNT / 4);
    for (let bit = 0; bit < 128; bit++) {
      const values = made.map((id) => ((id[bit >> 3] ?? 0) >> (bit & 7)) & 1);
      const ones = values.reduce((sum, value) => sum + value, 0);
      const changes = values.reduce((sum, value, index) => sum + (index > 0 && value !== values[index - 1] ? 1 : 0), 0);
      expect(Math.abs(ones - COUNT / 2), `ones at bit ${bit}`).toBeLessThan(allowed);
      expect(Math.abs(changes - COUNT / 2), `changes at bit ${bit}`).toBeLessThan(allowed);
    }
  });
});

describe('37. byterover-cli#329: a missing session id is never made up', () => {
  it('a stream or an end without a session is refused, also when only one session exists', async () => {
    const session = await openSession(url);
    const socket = await connected(url);
    socket.write(
      `GET /mcp HTTP/1.1\r\nHost: ${url.host}\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session}\r\n\r\n`,
    );
    await heard(socket, 100);
    const stranger = { accept: 'text/event-stream' };
    expect((await send(url, { method: 'GET', headers: stranger })).status).toBe(400);
    expect((await send(url, { method: 'GET', headers: { ...stranger, 'last-event-id': '0-1' } })).status).toBe(400);
    expect((await send(url, { method: 'DELETE', headers: {} })).status).toBe(400);
    socket.destroy();
    expect((await post(url, '{"jsonrpc":"2.0","id":1,"method":"ping"}', { 'mcp-session-id': session })).status).toBe(
      200,
    );
  });

  it('a response without a session, or in another one, answers nobody', async () => {
    const asks = `({ id, method, params }) => {
      if (method === undefined) { global.told = JSON.stringify(arguments[0] ?? null); return true; }
      if (method !== 'tools/call') return false;
      write({ id: 'q', method: 'elicitation/create', params: { message: 'name?', requestedSchema: { type: 'object', properties: {} } } });
      setTimeout(() => answer(id, String(global.told ?? 'nobody')), 600);
      return true;
    }`.replace('({ id, method, params }) =>', 'function ({ id, method, params })');
    await using own = await startGate({ pipes: { asks } });
    const capabilities = { elicitation: { form: {} } };
    const [victim, thief] = [
      await openSession(own.url, { capabilities }),
      await openSession(own.url, { capabilities }),
    ];
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'asks_say' } };
    const answering = post(own.url, call, { 'mcp-session-id': victim });
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const id of ['q', 'sally-1', 1, 'sally-2']) {
      const forged = { jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'forged' } } };
      expect((await post(own.url, forged)).status).toBe(202);
      expect((await post(own.url, forged, { 'mcp-session-id': thief })).status).toBe(202);
      expect((await post(own.url, forged, { 'mcp-session-id': 'invented' })).status).toBe(404);
    }
    for (const requestId of [1, 'sally-1'])
      await post(own.url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    expect(textOf(await answering)).toBe('nobody');
    own.stillWell();
  });

  it('the transport of 2024 with its stream and its address gives nobody the stream of another', async () => {
    await using single = await startPassThrough(web.url);
    const open = async () => {
      const socket = await connected(single.url);
      socket.write(`GET /sse HTTP/1.1\r\nHost: ${single.url.host}\r\nAccept: text/event-stream\r\n\r\n`);
      const path = /^data: (\/messages\S+)$/m.exec(await heard(socket, 300))?.[1] ?? '';
      return { socket, path };
    };
    const [one, two] = [await open(), await open()];
    expect(one.path).toMatch(/^\/messages\?sessionId=[\w-]{22,}$/);
    expect(one.path).not.toBe(two.path);
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const session = await openSession(single.url);
    for (const path of ['/messages', '/messages?sessionId=', '/messages?sessionId=x', `/messages?sessionId=${session}`])
      expect((await send(single.url, { path, headers: MCP, body: ping })).status, path).toBe(404);
    for (const headers of [{ host: 'evil.example' }, { origin: 'http://evil.example' }]) {
      expect((await send(single.url, { method: 'GET', path: '/sse', headers })).status).toBe(403);
      expect((await send(single.url, { path: one.path, headers: { ...MCP, ...headers }, body: ping })).status).toBe(
        403,
      );
    }
    const heardByTwo = heard(two.socket, 400);
    expect((await send(single.url, { path: one.path, headers: MCP, body: ping })).status).toBe(202);
    expect(await heardByTwo).not.toContain('"id":1');
    one.socket.destroy();
    two.socket.destroy();
    single.stillWell();
  });
});
