import { readFileSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SERVER_IMAGE, type TestEngine } from '../support/engine.ts';
import {
  type Call,
  isolationTable,
  outcome,
  type Surroundings,
  startSurroundings,
  WAYS,
} from '../support/isolation.ts';
import { connectClient, ROOT } from '../support/sally.ts';
import { sharedEngine } from '../support/shared-engines.ts';
import { type WorkloadHome, workloadHome } from '../support/workloads.ts';

// Engines take their time, and the base image is made when it is not there yet.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 600_000 });

let around: Surroundings;
beforeAll(async () => {
  around = await startSurroundings();
});
afterAll(() => around?.[Symbol.asyncDispose]());

/** Two servers that try everything: one whose profile names this machine in vain, and one that may reach one port of it. */
interface Column extends AsyncDisposable {
  readonly call: Readonly<Record<'closed' | 'open', Call>>;
}

async function column(server: string, flags: readonly string[], engine?: TestEngine): Promise<Column> {
  const home = await workloadHome([]);
  const env = engine?.env ?? {};
  await installProbe(home);
  const sessions: AsyncDisposable[] = [];
  async function start(name: string, outbound: object, more: readonly string[]): Promise<Call> {
    const file = join(home.folder, `${name}.json`);
    await writeFile(file, JSON.stringify({ network: { outbound } }));
    const profile = flags.includes('plain') ? [] : ['--permission-profile', file, ...more];
    const words = flags.filter((flag) => flag !== 'plain');
    const started = await home.ok(['run', server, '--name', name, ...words, ...profile, '--format', 'json'], { env });
    const session = await connectClient((JSON.parse(started) as { url: string }).url);
    sessions.push(session);
    const { client } = session;
    return async (tool, args = {}) => {
      const { content, isError } = await client.callTool({ name: tool, arguments: args });
      return `${isError ? 'ERR ' : ''}${(content[0] as { text: string }).text}`;
    };
  }
  const everywhere = ['127.0.0.1', '::1', '169.254.169.254', around.address];
  const ports = [around.site, 80];
  return {
    call: {
      closed: await start('closed', { allow_host: everywhere, allow_port: ports }, []),
      open: await start('open', { allow_host: ['127.0.0.1'], allow_port: ports }, ['--allow-docker-gateway']),
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(sessions.map((session) => session[Symbol.asyncDispose]()));
      await home.sally(['rm', '--all'], { env });
      await home[Symbol.asyncDispose]();
    },
  };
}

async function installProbe({ folder }: WorkloadHome): Promise<void> {
  const place = join(folder, 'node_modules/probe');
  await mkdir(place, { recursive: true });
  await copyFile(join(ROOT, 'test/fixtures/images/server/server.mjs'), join(place, 'server.mjs'));
  await writeFile(
    join(place, 'package.json'),
    JSON.stringify({ name: 'probe', version: '1.0.0', bin: './server.mjs', type: 'module' }),
  );
}

describe('a process without a profile', () => {
  let plain: Column;
  beforeAll(async () => {
    plain = await column('npx://probe', ['--runtime', 'process', 'plain']);
  });
  afterAll(() => plain?.[Symbol.asyncDispose]());

  // What the walls below are good for, and proof that the probes get through where there are none.
  it.each(WAYS.filter((way) => way.plain !== undefined))('reaches $way', async (way) => {
    expect(await outcome(way, plain.call[way.server], around)).toBe('reached');
  });
});

describe('a process that bubblewrap confines', () => {
  let confined: Column;
  beforeAll(async () => {
    confined = await column('npx://probe', ['--runtime', 'process']);
  });
  afterAll(() => confined?.[Symbol.asyncDispose]());

  it.each(WAYS)('tries to reach $way (may: $reached)', async (way) => {
    expect(await outcome(way, confined.call[way.server], around)).toBe(way.reached ? 'reached' : 'stopped');
  });
});

describe.each(['docker', 'podman'] as const)('a container of %s', (kind) => {
  let confined: Column;
  beforeAll(async () => {
    confined = await column(SERVER_IMAGE, [], await sharedEngine(kind));
  });
  afterAll(() => confined?.[Symbol.asyncDispose]());

  it.each(WAYS)('tries to reach $way (may: $reached)', async (way) => {
    expect(await outcome(way, confined.call[way.server], around)).toBe(way.reached ? 'reached' : 'stopped');
  });
});

describe('the documents', () => {
  it('show the table that was seen here', () => {
    expect(readFileSync(join(ROOT, 'docs/isolation.md'), 'utf8')).toContain(isolationTable());
  });
});
