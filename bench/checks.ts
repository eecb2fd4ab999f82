import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchBackend, freePort } from './backend.ts';
import { createInspector } from './inspector.ts';
import { measure, type Subject, send } from './load.ts';
import { legacyCall, modern, modernCall, toolName } from './messages.ts';
import { rssMegabytes } from './processes.ts';
import { runSally, serverName, serveSally } from './sally.ts';
import { createVisitors } from './sessions.ts';
import { median } from './statistics.ts';

export interface CheckOptions {
  readonly backend: BenchBackend;
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly quick: boolean;
}

export interface Check {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: string;
  readonly detail: string;
}

/** What must not grow with the size of the set-up, and what must stay small. */
export async function runChecks(options: CheckOptions): Promise<readonly Check[]> {
  return [
    await flatInTools(options),
    await flatInBackends(options),
    await flatInSessions(options),
    ...(await memoryOfSessions(options)),
    await memoryOfCalls(options),
    await listWithOutages(options),
    ...(await startWithOutages(options)),
  ];
}

/** The calls go to all tools in turn: a lookup that is only fast for the first one would show. */
async function flatInTools({ backend, folder, ...options }: CheckOptions): Promise<Check> {
  await using few = await serveSally(join(folder, 'tools-1'), [backend.modern(1)]);
  await using many = await serveSally(join(folder, 'tools-1000'), [backend.modern(1000)]);
  const calls = (count: number) =>
    Array.from({ length: count }, (_, index) => modernCall(`${serverName(0)}_${toolName(index)}`));
  return await compareCpu(
    '1 → 1,000 tools, CPU per call',
    { name: '1 tool', url: few.url, pid: few.pid, messages: calls(1) },
    { name: '1,000 tools', url: many.url, pid: many.pid, messages: calls(1000) },
    { folder, ...options },
  );
}

async function flatInBackends({ backend, folder, ...options }: CheckOptions): Promise<Check> {
  const urls = Array.from({ length: 100 }, (_, index) => backend.modern(10, index));
  await using few = await serveSally(join(folder, 'backends-1'), urls.slice(0, 1));
  await using many = await serveSally(join(folder, 'backends-100'), urls);
  const calls = (count: number) =>
    Array.from({ length: count }, (_, index) => modernCall(`${serverName(index)}_${toolName(index % 10)}`));
  return await compareCpu(
    '1 → 100 backends, CPU per call',
    { name: '1 backend', url: few.url, pid: few.pid, messages: calls(1) },
    { name: '100 backends', url: many.url, pid: many.pid, messages: calls(100) },
    { folder, ...options },
  );
}

async function flatInSessions({ backend, folder, ...options }: CheckOptions): Promise<Check> {
  await using few = await runSally(backend.legacy(10));
  await using many = await runSally(backend.legacy(10));
  const subject = async (name: string, { url, pid }: typeof few, count: number): Promise<Subject> => {
    await using visitors = createVisitors(url);
    const sessions = await visitors.open(count, { call: true });
    return { name, url, pid, messages: sessions.map((session) => legacyCall(session, toolName(0))) };
  };
  return await compareCpu(
    '10 → 5,000 open sessions, CPU per call',
    await subject('10 sessions', few, 10),
    await subject('5,000 sessions', many, 5_000),
    { folder, ...options },
  );
}

/** A difference of 15 % is harder to see than one of four times. */
const MORE_ROUNDS = 4;

interface CompareOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
}

async function compareCpu(name: string, small: Subject, large: Subject, options: CompareOptions): Promise<Check> {
  const { folder, rounds, seconds } = options;
  const figures: { readonly small: number; readonly large: number }[] = [];
  const cpuOf = async (subject: Subject): Promise<number> => (await measure(subject, 32, seconds, folder)).cpuPerCall;
  for (const subject of [small, large]) await measure(subject, 32, Math.max(seconds, 2), folder); // warm
  for (let round = 0; round < rounds + MORE_ROUNDS; round++) {
    // Who comes first changes, and a round is compared with itself: what disturbs the machine for a while disturbs both.
    const first = await cpuOf(round % 2 === 0 ? small : large);
    const second = await cpuOf(round % 2 === 0 ? large : small);
    figures.push(round % 2 === 0 ? { small: first, large: second } : { small: second, large: first });
  }
  const middle = (of: (figure: (typeof figures)[number]) => number): number => median(figures.map(of));
  const detail = `${middle(({ small }) => small).toFixed(0)} µs → ${middle(({ large }) => large).toFixed(0)} µs`;
  const value = (middle(({ small, large }) => large / small) - 1) * 100;
  return { name, value, limit: 15, unit: '%', detail };
}

const MANY_SESSIONS = 10_000;
/** Deadlines of conversations that were opened are kept until they pass, which is 10 s. */
const OUTSTANDING = 11_000;

async function memoryOfSessions({ backend, quick }: CheckOptions): Promise<readonly Check[]> {
  const inspector = await createInspector();
  await using sally = await runSally(backend.legacy(10), inspector.nodeOptions);
  await using visitors = createVisitors(sally.url);
  // Code is compiled and pools are filled by the first visitors; that is not what a session costs.
  await visitors.end(await visitors.open(2_000, { call: true }));
  const before = await inspector.bytesInUse();
  const rssBefore = rssMegabytes(sally.pid);

  const idle = await visitors.open(quick ? 2_000 : 5_000, { call: false });
  const perIdle = ((await inspector.bytesInUse()) - before) / idle.length / 1024;
  await visitors.end(idle);

  const start = await inspector.bytesInUse();
  const used = await visitors.open(MANY_SESSIONS, { call: true });
  const perUsed = ((await inspector.bytesInUse()) - start) / used.length / 1024;
  await visitors.end(used);
  await sleep(OUTSTANDING);
  const after = await inspector.bytesInUse();
  const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  return [
    { name: 'an idle session', value: perIdle, limit: 16, unit: 'KB', detail: 'initialized, no call yet' },
    { name: 'an idle session after a call', value: perUsed, limit: 16, unit: 'KB', detail: 'with its backend session' },
    {
      name: '10,000 sessions opened and closed, memory kept',
      value: (after / before - 1) * 100,
      limit: 10,
      unit: '%',
      detail: `${megabytes(before)} → ${megabytes(after)} in use; RSS ${rssBefore.toFixed(0)} → ${rssMegabytes(sally.pid).toFixed(0)} MB`,
    },
  ];
}

async function memoryOfCalls({ backend, folder, quick }: CheckOptions): Promise<Check> {
  await using sally = await runSally(backend.modern(50));
  const subject = { name: 'memory', url: sally.url, pid: sally.pid, messages: [modernCall(toolName(0))] };
  const wanted = quick ? 40_000 : 200_000;
  let calls = 0;
  while (calls < wanted) calls += (await measure(subject, 256, quick ? 3 : 10, folder)).calls;
  const value = rssMegabytes(sally.pid);
  return { name: `RSS after ${wanted} calls`, value, limit: 150, unit: 'MB', detail: `${calls} calls` };
}

async function listWithOutages({ backend, folder }: CheckOptions): Promise<Check> {
  const dead = await freePort();
  const urls = Array.from({ length: 100 }, (_, index) =>
    index % 5 === 0 ? `http://127.0.0.1:${dead}/${index}` : backend.modern(10, index),
  );
  await using sally = await serveSally(join(folder, 'outages'), urls);
  const times: number[] = [];
  for (let round = 0; round < 60; round++) {
    const began = performance.now();
    await send(sally.url, modern('tools/list'));
    if (round >= 10) times.push(performance.now() - began);
  }
  const worst = Math.max(...times);
  return {
    name: 'tools/list, 100 backends with 20 down',
    value: median(times),
    limit: 10,
    unit: 'ms',
    detail: `median of 50 one after the other, worst ${worst.toFixed(1)} ms`,
  };
}

/** Two ways to be unreachable: nobody listens, or somebody takes the connection and never says a word. */
async function startWithOutages({ folder, backend }: CheckOptions): Promise<readonly Check[]> {
  const dead = await freePort();
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const mute = typeof address === 'object' && address ? address.port : 0;

  async function time(name: string, port: number): Promise<Check> {
    const urls = Array.from({ length: 20 }, (_, index) => `http://127.0.0.1:${port}/${index}`);
    const began = performance.now();
    await using _sally = await serveSally(join(folder, `start-${port}`), [...urls, backend.modern(10)]);
    return { name, value: (performance.now() - began) / 1000, limit: 1, unit: 's', detail: 'and one that answers' };
  }
  try {
    return [
      await time('start with 20 backends that refuse', dead),
      await time('start with 20 backends that never answer', mute),
    ];
  } finally {
    silent.close();
    for (const socket of sockets) socket.destroy();
  }
}
