import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isSameProcess } from '../../src/base/files/index.ts';
import { SERVER_IMAGE, startDocker, startPodman, type TestEngine } from '../support/engine.ts';
import { countedHome, type Footprint, footprint } from '../support/footprint.ts';
import { eventually, familyOf } from '../support/processes.ts';
import { proveCycles } from '../support/proofs/cycles.ts';
import { connectClient } from '../support/sally.ts';
import { type View, type WorkloadHome, withEnv } from '../support/workloads.ts';

// Each test starts many commands, and a busy machine takes its time for each.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 600_000 });

const WITHIN = 60_000;

const view = (home: WorkloadHome, name = 'victim'): Promise<View> => home.json<View>(['status', name]);
const list = (home: WorkloadHome): Promise<View[]> => home.json<View[]>(['list', '--all']);
const hasStatus = (home: WorkloadHome, wanted: string): Promise<View> =>
  eventually(
    () => view(home),
    ({ status }) => status === wanted,
    WITHIN,
  );

async function answers(url: string | undefined): Promise<boolean> {
  await using session = await connectClient(url ?? '');
  return (await session.client.listTools()).tools.length > 0;
}

/** Nothing is left that was not there before. What is removed in the background has a moment for it. */
async function expectNothingLeft(home: WorkloadHome, engine: TestEngine | undefined, before: Footprint): Promise<void> {
  const now = (): Promise<Footprint> => footprint(home, engine);
  await eventually(now, (seen) => JSON.stringify(seen) === JSON.stringify(before), 20_000).catch(() => {});
  expect(await now()).toEqual(before);
}

/** Kills the engine under a workload, and brings it back. */
async function expectBackOnce(engine: TestEngine, flags: readonly string[]): Promise<void> {
  await using home = await countedHome(engine);
  const before = await footprint(home, engine);
  await home.ok(['run', SERVER_IMAGE, '--name', 'victim', ...flags]);
  const { url } = await view(home);
  const containers = (await engine.containers()).length;
  await engine.stop('SIGKILL');
  const hurt = await eventually(
    () => view(home),
    ({ error }) => error?.includes('engine') ?? false,
    WITHIN,
  );
  expect(hurt).toMatchObject({ status: 'unhealthy', repair: 'sally logs victim' });
  await engine.restart();
  await hasStatus(home, 'running');
  expect(await answers(url)).toBe(true);
  // Not the new ones beside the old ones.
  await eventually(
    () => engine.containers(),
    (names) => names.length === containers,
    WITHIN,
  );
  await home.ok(['rm', 'victim']);
  await expectNothingLeft(home, engine, before);
}

/** Somebody else on a port. */
async function occupyPort(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}

const HTTP = ['--transport', 'streamable-http'];

const KINDS = [
  { kind: 'a process', server: 'npx://good', flags: ['--runtime', 'process'] },
  { kind: 'a container', server: SERVER_IMAGE, flags: [] },
  { kind: 'a container behind the relay', server: SERVER_IMAGE, flags: HTTP },
] as const;

let docker: TestEngine;
beforeAll(async () => {
  docker = await startDocker({ own: true });
});
afterAll(() => docker?.[Symbol.asyncDispose]());

describe.each(KINDS)('a workload in $kind', ({ kind, server, flags }) => {
  let engine: TestEngine | undefined;
  beforeAll(() => {
    engine = kind === 'a process' ? undefined : docker;
  });
  const run = ['run', server, '--name', 'victim', ...flags];

  it('survives its supervisor only in our memory: lost, told so, and back with start', async () => {
    await using home = await countedHome(engine);
    const before = await footprint(home, engine);
    await home.ok(run);
    const { pid = 0, url } = await view(home);
    const family = familyOf(pid);
    expect(family.length).toBeGreaterThan(1);
    process.kill(pid, 'SIGKILL');
    await eventually(
      () => family.filter(isSameProcess),
      (left) => left.length === 0,
      WITHIN,
    );
    expect(await view(home)).toMatchObject({ status: 'lost', repair: 'sally start victim' });
    await eventually(
      async () => (await footprint(home, engine)).containers,
      (left) => left === before.containers,
      WITHIN,
    );
    await home.ok(['start', 'victim']);
    expect(await view(home)).toMatchObject({ status: 'running', url });
    expect(await answers(url)).toBe(true);
    await home.ok(['rm', 'victim']);
    await expectNothingLeft(home, engine, before);
  });

  it('gets a new server when the old one is killed', async () => {
    await using home = await countedHome(engine);
    const before = await footprint(home, engine);
    await home.ok(run);
    const { pid: supervisor = 0, url } = await view(home);
    const victim = engine ? await pidOfServer(engine) : await toolPid(url);
    process.kill(victim, 'SIGKILL');
    const next = (): Promise<number> => (engine ? pidOfServer(engine) : toolPid(url)).catch(() => 0);
    await eventually(next, (pid) => pid !== 0 && pid !== victim, WITHIN);
    await hasStatus(home, 'running');
    expect(await answers(url)).toBe(true);
    expect((await view(home)).pid).toBe(supervisor);
    await home.ok(['rm', 'victim']);
    await expectNothingLeft(home, engine, before);
  });

  it('is started once by two commands at once', async () => {
    await using home = await countedHome(engine);
    const before = await footprint(home, engine);
    const runs = await Promise.all([home.sally(run), home.sally(run), home.sally(run)]);
    expect(runs.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
    for (const { code, stderr } of runs) if (code !== 0) expect(stderr).toContain('workload.exists');
    expect(await list(home)).toMatchObject([{ name: 'victim', status: 'running' }]);
    if (engine) expect(await engine.containers()).toHaveLength(kind === 'a container' ? 1 : 2);
    await home.ok(['rm', 'victim']);
    await expectNothingLeft(home, engine, before);
  });

  it('leaves nothing behind, however often it is run and removed', async () => {
    const { leaks, cycles } = await proveCycles({ cycles: 3, server, flags, engine });
    expect({ leaks, cycles }).toEqual({ leaks: {}, cycles: 3 });
  });
});

// The relay changes nothing about these.
describe.each(KINDS.slice(0, 2))('a workload in $kind', ({ kind, server, flags }) => {
  let engine: TestEngine | undefined;
  beforeAll(() => {
    engine = kind === 'a process' ? undefined : docker;
  });
  const run = ['run', server, '--name', 'victim', ...flags];

  it('says whose fault it is when its port is taken', async () => {
    await using home = await countedHome(engine);
    const before = await footprint(home, engine);
    await using other = await occupyPort();
    const refused = await home.sally([...run, '--proxy-port', String(other.port)]);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('listener.port_in_use') });
    expect(refused.stderr).toContain(String(other.port));
    expect(await list(home)).toEqual([]);
    await expectNothingLeft(home, engine, before);
  });

  it('keeps its name and comes back when the port is free again', async () => {
    await using home = await countedHome(engine);
    const before = await footprint(home, engine);
    const other = await occupyPort();
    const { port } = other;
    await other[Symbol.asyncDispose]();
    await home.ok([...run, '--proxy-port', String(port)]);
    await home.ok(['stop', 'victim']);
    const thief = createServer();
    await new Promise<void>((resolve) => thief.listen(port, '127.0.0.1', resolve));
    const refused = await home.sally(['start', 'victim']);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('listener.port_in_use') });
    expect(await view(home)).toMatchObject({ status: 'failed', error: expect.stringContaining(String(port)) });
    await new Promise((resolve) => thief.close(resolve));
    await home.ok(['start', 'victim']);
    expect(await view(home)).toMatchObject({ status: 'running' });
    await home.ok(['rm', 'victim']);
    await expectNothingLeft(home, engine, before);
  });

  it('is gone when it was removed while it started', async () => {
    await using home = await countedHome(engine);
    const before = await footprint(home, engine);
    for (const pause of [100, 700]) {
      await home.ok(run);
      await home.ok(['stop', 'victim']);
      const started = home.sally(['start', 'victim']);
      await sleep(pause);
      const removed = await home.sally(['rm', 'victim']);
      expect(removed.code).toBe(0);
      await started;
      await home.ok(['rm', 'victim']);
      expect(await list(home)).toEqual([]);
      await expectNothingLeft(home, engine, before);
    }
  });
});

describe('an engine', () => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = docker;
  });

  it.each([
    { how: 'stdio', flags: [] },
    { how: 'HTTP', flags: HTTP },
  ])('that is killed takes its containers along ($how); they are back when it is, once', ({ flags }) =>
    expectBackOnce(docker, flags),
  );

  // Its containers live on without it, and nobody hears them.
  it('that is killed and leaves its containers alone has new ones when it is back, and the old ones no more', async () => {
    await using podman = await startPodman();
    await expectBackOnce(podman, []);
  });

  it('that is not there is named, by run and by start, and nothing is left of either', async () => {
    await using home = await countedHome(engine);
    const before = await footprint(home, engine);
    await home.ok(['run', SERVER_IMAGE, '--name', 'victim']);
    await home.ok(['stop', 'victim']);
    await engine.stop('SIGTERM');
    const run = await home.sally(['run', SERVER_IMAGE, '--name', 'other']);
    expect(run).toMatchObject({ code: 5, stderr: expect.stringContaining('workload.runtime_missing') });
    const start = await home.sally(['start', 'victim']);
    expect(start).toMatchObject({ code: 5, stderr: expect.stringContaining('workload.runtime_missing') });
    expect(await list(home)).toMatchObject([{ name: 'victim', status: 'failed' }]);
    await engine.restart();
    await home.ok(['start', 'victim']);
    await home.ok(['rm', 'victim']);
    await expectNothingLeft(home, engine, before);
  });

  it('without the image any more says so, and starts the workload when it has it again', async () => {
    await using home = await countedHome(engine);
    const image = 'sally-test/passing:1';
    await engine.cli('tag', SERVER_IMAGE, image);
    const before = await footprint(home, engine);
    await home.ok(['run', image, '--name', 'victim']);
    await home.ok(['stop', 'victim']);
    await engine.cli('rmi', image);
    const gone = await home.sally(['start', 'victim']);
    expect(gone).toMatchObject({ code: 5, stderr: expect.stringContaining('workload.image_missing') });
    expect(gone.stderr).toContain(image);
    expect(await view(home)).toMatchObject({ status: 'failed', error: expect.stringContaining(image) });
    await engine.cli('tag', SERVER_IMAGE, image);
    await home.ok(['start', 'victim']);
    expect(await view(home)).toMatchObject({ status: 'running' });
    await home.ok(['rm', 'victim']);
    await expectNothingLeft(home, engine, before);
  });
});

describe('a full disk', () => {
  it('is named, destroys nothing, and leaves the way out open', async () => {
    await using plain = await countedHome();
    const disk = join(plain.folder, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
    const home = withEnv(plain, { SALLYPORT_HOME: join(disk, 'home') });
    try {
      const [first, second] = ['first', 'second'];
      for (const name of [first, second]) await home.ok(['run', 'npx://good', '--runtime', 'process', '--name', name]);
      const state = join(disk, 'home/state/workloads', first, 'workload.json');
      const kept = await readFile(state, 'utf8');
      const ballast = join(disk, 'ballast');
      await writeFile(ballast, Buffer.alloc(2 * 1024 ** 2)).catch(() => {});

      const refused = await home.sally(['run', 'npx://good', '--runtime', 'process', '--name', 'third']);
      expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('state.unwritable') });
      expect(refused.stderr).toContain('the disk is full');
      const stop = await home.sally(['stop', first]);
      expect(stop).toMatchObject({ code: 5, stderr: expect.stringContaining('the disk is full') });
      expect(await readFile(state, 'utf8')).toBe(kept);
      expect((await list(home)).map(({ name, status }) => [name, status])).toEqual([
        [first, 'running'],
        [second, 'running'],
      ]);
      expect(await answers((await view(home, first)).url)).toBe(true);
      // Who removes something makes room.
      await home.ok(['rm', second]);
      expect((await list(home)).map(({ name }) => name)).toEqual([first]);

      execFileSync('rm', [ballast]);
      await home.ok(['restart', first]);
      expect(await view(home, first)).toMatchObject({ status: 'running' });
      await home.ok(['rm', first]);
      expect(home.processes()).toEqual([]);
    } finally {
      await home.sally(['rm', '--all']);
      execFileSync('umount', ['--lazy', disk]);
    }
  });
});

async function toolPid(url: string | undefined): Promise<number> {
  await using session = await connectClient(url ?? '');
  const { content } = await session.client.callTool({ name: 'pid' });
  return Number((content[0] as { text: string }).text);
}

/** The process of the container in which the server runs, not that of the relay, as this machine numbers it. */
async function pidOfServer(engine: TestEngine): Promise<number> {
  const name = (await engine.containers()).find((each) => each.includes('-server-'));
  return name === undefined ? 0 : Number(await engine.cli('inspect', '--format', '{{.State.Pid}}', name));
}
