import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sallyAtTerminal } from '../support/asked.ts';
import { type Boundaries, startBoundaries } from '../support/boundaries.ts';
import { BASE_IMAGE, SERVER_IMAGE, type TestEngine } from '../support/engine.ts';
import { SURROUNDINGS, type Surroundings } from '../support/example-surroundings.ts';
import { startHttpMcpServer } from '../support/http-mcp-server.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { freePort } from '../support/processes.ts';
import { TEST_PATH } from '../support/programs.ts';
import { type Finished, ROOT, type TempFolder, tempFolder } from '../support/sally.ts';
import { sharedEngine } from '../support/shared-engines.ts';
import { type WorkloadHome, workloadHome } from '../support/workloads.ts';

/** Every example that the help of a command shows, run by a shell as a person would. The table says what each finds around it. */

// Packages are fetched, images built, and a busy machine takes its time for each.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 600_000 });

interface Stage extends AsyncDisposable {
  readonly home: WorkloadHome;
  run(line: string, surroundings?: Surroundings): Promise<Finished>;
}

const linesFor = (on?: Surroundings['on']): readonly (readonly [string, Surroundings])[] =>
  Object.entries(SURROUNDINGS).filter(([, surroundings]) => surroundings.on === on);

/** A home in which `sally` is a command, and what `npx://` names is installed. */
async function stage(more: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const home = await workloadHome(['good'], more);
  const bin = join(home.folder, 'bin');
  await mkdir(bin);
  const script = `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'bin/sally.js')}' "$@"\n`;
  await writeFile(join(bin, 'sally'), script);
  await chmod(join(bin, 'sally'), 0o755);
  const scope = 'node_modules/@modelcontextprotocol';
  await symlink(join(ROOT, scope), join(home.folder, scope));
  const env = {
    ...home.env,
    PATH: [bin, TEST_PATH].join(delimiter),
    UV_EXCLUDE_NEWER: '2026-11-01T00:00:00Z', // what a package depends on is fixed by date
  };
  return {
    home,
    run: (line, surroundings = {}) => atShell(line, surroundings, { cwd: home.folder, env }),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

async function atShell(line: string, { asked, until, fed }: Surroundings, place: Place): Promise<Finished> {
  if (asked) return await sallyAtTerminal(line.split(' '), asked, place);
  const child = spawn('sh', ['-c', `exec sally ${line}`], {
    cwd: place.cwd,
    env: { ...process.env, ...place.env },
    stdio: 'pipe',
  });
  const said = { stdout: '', stderr: '' };
  let interrupted = false; // a second Ctrl-C would insist
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      if (interrupted || !until?.test(said.stdout)) return;
      interrupted = child.kill('SIGINT');
    });
  child.stdin.on('error', () => {}).end(fed ?? ''); // most do not read it and may be gone
  // One that has nothing to say stays, too.
  if (until?.test('')) setTimeout(() => child.kill('SIGINT'), 3_000);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}

async function prepare({ home, run }: Stage, { files = {}, folders = {}, before = [] }: Surroundings): Promise<void> {
  for (const [file, text] of Object.entries(files)) await writeFile(join(home.folder, file), text);
  for (const [folder, source] of Object.entries(folders))
    await cp(join(ROOT, source), join(home.folder, folder), { recursive: true });
  for (const line of before) {
    const { code, stderr } = await run(line);
    expect({ line, code, stderr }).toMatchObject({ line, code: 0 });
  }
}

function expectWell({ code, stdout, stderr }: Finished, { says, until }: Surroundings): void {
  expect({ code, stderr }).toMatchObject({ code: 0 });
  if (says ?? until) expect(stdout).toMatch((says ?? until) as RegExp);
  else expect(stdout).toBe('');
}

/** The line with stand-ins for what is outside. */
async function withStandIns(
  line: string,
  { standIn = {} }: Surroundings,
  stack: AsyncDisposableStack,
): Promise<string> {
  let spoken = line;
  for (const [name, what] of Object.entries(standIn)) spoken = spoken.replace(name, await START[what](stack));
  return spoken;
}

const START = {
  remote: async (stack: AsyncDisposableStack) => stack.use(await startHttpMcpServer()).url,
  registry: async (stack: AsyncDisposableStack) => {
    const server = createServer((_, response) => response.end('{"servers":[],"metadata":{}}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stack.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    return `-p http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it lies in our own network
  },
  'free port': async () => String(await freePort()),
};

describe.concurrent('examples', () => {
  it.each(linesFor())('sally %s', async (line, surroundings) => {
    await using stack = new AsyncDisposableStack();
    const spoken = await withStandIns(line, surroundings, stack);
    const here = stack.use(await stage());
    await prepare(here, surroundings);
    expectWell(await here.run(spoken, surroundings), surroundings);
  });
});

describe('examples that need a container engine', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await sharedEngine('docker');
    // Nothing is pulled: our own images carry the names that the examples mean.
    await engine.cli('tag', SERVER_IMAGE, 'ghcr.io/acme/notes:1.4');
    for (const base of ['node:24-alpine', 'python:3.14-slim']) await engine.cli('tag', BASE_IMAGE, base);
  });

  it.each(linesFor('engine'))('sally %s', async (line, surroundings) => {
    await using here = await stage(engine.env);
    await prepare(here, surroundings);
    // Where the network goes through a proxy that opens TLS, a build needs its certificate.
    const spoken = line.replace(/^build /, 'build --ca-cert /etc/ssl/certs/ca-certificates.crt ');
    expectWell(await here.run(spoken, surroundings), surroundings);
  });
});

describe('examples that need logins', () => {
  let home: TempFolder;
  let corp: IdentityProvider;
  let gate: Boundaries;
  beforeAll(async () => {
    [home, corp] = await Promise.all([tempFolder(), startIdentityProvider({ name: 'corp' })]);
    gate = await startBoundaries({ providers: { corp }, backends: {}, home: home.path });
  });
  afterAll(async () => {
    for (const one of [gate, corp, home]) await one?.[Symbol.asyncDispose]();
  });

  it.each(linesFor('logins'))('sally %s', async (line, surroundings) => {
    await gate.login('alice');
    await using here = await stage({ SALLYPORT_HOME: home.path });
    const spoken = line.replace('alice@example.com', 'alice@example.test');
    expectWell(await here.run(spoken, surroundings), { says: surroundings.says as RegExp });
    await here.run('auth revoke --all');
  });
});
