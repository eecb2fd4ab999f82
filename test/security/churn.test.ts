import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSealer } from '../../src/base/index.ts';
import type { Identity } from '../../src/gateway/call.ts';
import type { Answering } from '../../src/gateway/clients/legacy.ts';
import { listen } from '../../src/gateway/clients/listen.ts';
import { LiveCall } from '../../src/gateway/clients/live-call.ts';
import { ModernChannel } from '../../src/gateway/clients/modern-channel.ts';
import { createParking } from '../../src/gateway/clients/parking.ts';
import { createSessions } from '../../src/gateway/clients/sessions.ts';
import { createHubs, type Hub } from '../../src/gateway/hub/index.ts';
import { createMemory } from '../../src/gateway/memory.ts';
import { startGate } from './support/gate.ts';
import { startWebServer } from './support/servers.ts';
import { modern, openSession, post, send } from './support/wire.ts';

const IDENTITY: Identity = { kind: 'anonymous' };
const FIELDS = {
  principal: 'anonymous',
  owner: 'anonymous',
  revision: '2025-11-25',
  capabilities: {},
  info: undefined,
};
const SILENT = { error() {}, warn() {}, info() {}, debug() {} };
const sealer = createSealer(randomBytes(32), 'test');

/** An answer that goes nowhere, and can be closed from the other side. */
function outlet(): Answering & { readonly written: string[]; close(): void } {
  const closing: (() => void)[] = [];
  const written: string[] = [];
  let open = true;
  return {
    written,
    get open() {
      return open;
    },
    streaming: false,
    stream() {},
    event: (data) => void written.push(data),
    json: (_status, body) => {
      written.push(String(body));
      open = false;
    },
    empty() {
      open = false;
    },
    end() {
      open = false;
    },
    onClose: (listener) => void closing.push(listener),
    close() {
      open = false;
      for (const listener of closing) listener();
    },
  };
}

function modernCall(id: number, params: Readonly<Record<string, unknown>> = { name: 'x' }): LiveCall {
  const client = {
    era: 'modern',
    revision: '2026-07-28',
    capabilities: { elicitation: { form: {} } },
    info: undefined,
    key: 'anonymous ',
    alone: false,
    logLevel: undefined,
  } as const;
  return new LiveCall({
    id,
    method: 'tools/call',
    params,
    raw: undefined,
    identity: IDENTITY,
    client,
    paramHeaders: undefined,
  });
}

describe('sessions', () => {
  it('1,000 opened and deleted leave nothing', () => {
    let ended = 0;
    const sessions = createSessions({ now: Date.now, ended: () => ended++ });
    const made = Array.from({ length: 1_000 }, () => sessions.open(FIELDS));
    expect([...sessions.all()]).toHaveLength(1_000);
    for (const session of made) sessions.end(session);
    for (const session of made) sessions.end(session);
    expect([...sessions.all()]).toHaveLength(0);
    expect(ended).toBe(1_000);
    sessions.close();
  });

  it('those that nobody uses end by themselves, those in use do not', () => {
    vi.useFakeTimers();
    const sessions = createSessions({ limits: { idle: 1_000, total: 5_000 }, now: Date.now, ended: () => {} });
    const kept = sessions.open(FIELDS);
    for (let count = 0; count < 1_000; count++) sessions.open(FIELDS);
    for (let passed = 0; passed < 3_000; passed += 250) {
      vi.advanceTimersByTime(250);
      sessions.find(kept.id, 'anonymous');
    }
    expect([...sessions.all()]).toEqual([kept]);
    sessions.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('there are never more than the limit, whoever opens them', () => {
    const sessions = createSessions({ limits: { idle: 60_000, total: 100 }, now: Date.now, ended: () => {} });
    for (let count = 0; count < 5_000; count++) sessions.open(FIELDS);
    expect([...sessions.all()]).toHaveLength(100);
    sessions.close();
  });

  it('an endpoint forgets what it kept for them', () => {
    const forgotten: string[] = [];
    const memory = createMemory(sealer);
    const hubs = createHubs({ name: 'x', aggregation: { kind: 'single' } }, [], { version: '0', log: SILENT, sealer });
    const hub: Hub = { ...hubs.of({ kind: 'anonymous' }), forget: (key) => void forgotten.push(key) };
    memory.serveWith({ ...hubs, known: () => hub });
    for (let count = 0; count < 1_000; count++) memory.sessions.end(memory.sessions.open(FIELDS));
    expect(forgotten).toHaveLength(1_000);
    expect([...memory.sessions.all()]).toHaveLength(0);
    memory.close();
  });

  it('through the real gateway: 1,000 opened and deleted end their conversations with the server too', async () => {
    await using web = await startWebServer();
    await using gate = await startGate({ web: { web: web.url } });
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: 100 }, async () => {
          const id = await openSession(gate.url);
          const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'web_say' } };
          if (round === 0) expect((await post(gate.url, call, { 'mcp-session-id': id })).status).toBe(200);
          expect((await send(gate.url, { method: 'DELETE', headers: { 'mcp-session-id': id } })).status).toBe(204);
        }),
      );
    }
    const opened = web.messages.filter(({ method }) => method === 'initialize').length;
    expect(opened).toBeLessThanOrEqual(101);
    gate.stillWell();
  });

  it('what a client says about itself is not kept without a limit', async () => {
    await using web = await startWebServer();
    await using gate = await startGate({ web: { web: web.url } });
    // 20,000 sessions of this size would be 80 GB.
    const clientInfo = { name: 'x'.repeat(4 * 1024 * 1024), version: '1' };
    await expect(openSession(gate.url, { clientInfo })).rejects.toThrow('no session');
  });

  it('a client of the stateless revision cannot open conversations at will by what it declares', async () => {
    await using web = await startWebServer();
    await using gate = await startGate({ web: { web: web.url } });
    for (let count = 0; count < 50; count++) {
      const capabilities = { elicitation: { [`made-up-${count}`]: {} } };
      const { message, headers } = modern(1, 'tools/call', { name: 'web_say' }, capabilities);
      expect((await post(gate.url, message, headers)).status).toBe(200);
    }
    expect(web.messages.filter(({ method }) => method === 'initialize').length).toBeLessThan(10);
  });
});

describe('parked calls', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A call that asked its user something, and waits. */
  async function parked(parking: ReturnType<typeof createParking>, id: number) {
    const call = modernCall(id);
    const out = outlet();
    const channel = new ModernChannel(call, out, parking, {});
    call.channel = channel;
    const withdrawn = new AbortController();
    const told = call.ask({
      id: 'q',
      method: 'elicitation/create',
      params: { message: '?' },
      withdrawn: withdrawn.signal,
    });
    told.catch(() => {});
    await vi.advanceTimersByTimeAsync(10);
    const { result } = JSON.parse(out.written[0] ?? '{}') as { result: { requestState: string } };
    return { call, channel, told, state: result.requestState };
  }

  it('200 that nobody answers expire, and no timer is left', async () => {
    const parking = createParking(sealer);
    const calls = [];
    for (let id = 0; id < 200; id++) calls.push(await parked(parking, id));
    expect(vi.getTimerCount()).toBe(200);
    await vi.advanceTimersByTimeAsync(11 * 60_000);
    expect(vi.getTimerCount()).toBe(0);
    for (const { call, told } of calls) {
      expect(call.cancelled?.code).toBe('call.cancelled');
      await expect(told).rejects.toMatchObject({ code: 'call.cancelled' });
    }
    const retry = modernCall(1, { name: 'x', requestState: calls[0]?.state });
    expect(() => parking.resume(retry)).toThrow(expect.objectContaining({ code: 'call.expired' }));
  });

  it('200 that are cancelled leave no timer', async () => {
    const parking = createParking(sealer);
    for (let id = 0; id < 200; id++) (await parked(parking, id)).call.cancel('gone');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('200 that wait while the gateway closes leave no timer', async () => {
    const parking = createParking(sealer);
    for (let id = 0; id < 200; id++) await parked(parking, id);
    parking.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('the same state does not fit twice, nor another call, nor after a change', async () => {
    const parking = createParking(sealer);
    const { state } = await parked(parking, 1);
    for (const params of [{ name: 'y' }, { name: 'x', arguments: { a: 1 } }])
      expect(() => parking.resume(modernCall(2, { ...params, requestState: state }))).toThrow();
    expect(parking.resume(modernCall(2, { name: 'x', requestState: state }))).toBeDefined();
    expect(() => parking.resume(modernCall(3, { name: 'x', requestState: state }))).toThrow();
    parking.close();
  });

  it('one that got its answer is gone: calls that ended do not keep new ones out', async () => {
    const parking = createParking(sealer);
    for (let id = 0; id < 1_100; id++) {
      const { channel, told, state } = await parked(parking, id);
      const retry = modernCall(id, { name: 'x', requestState: state, inputResponses: { q: { action: 'accept' } } });
      parking.resume(retry);
      channel.resume(retry, outlet());
      expect(await told).toEqual({ result: { action: 'accept' } });
      channel.finish({ result: {} });
    }
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('a stream of changes that its client closed is forgotten by the servers behind', async () => {
  const hubs = createHubs({ name: 'x', aggregation: { kind: 'single' } }, [], { version: '0', log: SILENT, sealer });
  const hub = hubs.of({ kind: 'anonymous' });
  let held = 0;
  for (let id = 0; id < 1_000; id++) {
    const call = modernCall(id, { notifications: { toolsListChanged: true } });
    await listen(call, hub, outlet(), {});
    call.cancel('the client closed the stream');
    call.cancel = () => void held++;
  }
  hub.retire();
  expect(held).toBe(0);
});
