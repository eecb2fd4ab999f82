import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { ROOT, startSally, tempFolder } from '../support/sally.ts';
import type { Backend, Configuration } from './configurations.ts';
import { startLoginStand, startTokenBearer } from './login-stand.ts';

/** Everything under its own name: the suite knows no prefixes. */
const UNNAMED = { conflictResolution: 'priority', conflictResolutionConfig: { priorityOrder: ['one'] } };
const FIXTURE = join(ROOT, 'test/conformance/fixture/main.ts');
/** Packages are found through their first line, which asks PATH for node; ours has to be the one that runs us. */
const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);

/** What the suite talks to: the fixture, and the gateway in front of it. */
export interface Stand extends AsyncDisposable {
  readonly url: string;
}

export async function startStand({ gateway, backends }: Configuration): Promise<Stand> {
  const stack = new AsyncDisposableStack();
  try {
    const url = await start();
    return { url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }

  async function start(): Promise<string> {
    const [first] = backends;
    switch (gateway) {
      case 'none':
        return await stack.use(launchFixture(first)).url;
      case 'run':
        return first.transport === 'stdio' ? runPackage(first) : runUrl(first);
      case 'folder':
        return serveFolder();
      case 'login':
        return behindLogin(first);
    }
  }

  async function runUrl(backend: Backend): Promise<string> {
    const fixture = stack.use(launchFixture(backend));
    const transport = backend.transport === 'sse' ? ['--transport', 'sse'] : [];
    return gatewayWith(['run', '-f', '--name', 'fixture', ...transport, await fixture.url]);
  }

  async function runPackage(backend: Backend): Promise<string> {
    const { path } = stack.use(await tempFolder());
    await installFixture(path, backend);
    const mode = ['--session-mode', backend.sessionMode ?? 'shared'];
    return gatewayWith(['run', '-f', '--name', 'fixture', ...mode, 'npx://conformance-fixture'], {
      cwd: path,
      env: { PATH },
    });
  }

  async function serveFolder(): Promise<string> {
    const { path } = stack.use(await tempFolder());
    const fixtures = backends.map((backend, index) => stack.use(launchFixture(backend, `${index + 1}`)));
    const urls = await Promise.all(fixtures.map(({ url }) => url));
    await writeFile(join(path, 'gateway.yaml'), folderYaml(backends, urls));
    return gatewayWith(['vmcp', 'serve', '-f', path, '--port', '0']);
  }

  /** The suite has no way to show a token, so somebody on the way adds one. */
  async function behindLogin(backend: Backend): Promise<string> {
    const fixture = stack.use(launchFixture(backend));
    const gateway = stack.use(await startLoginStand({ one: await fixture.url }, { config: { aggregation: UNNAMED } }));
    return stack.use(await startTokenBearer(gateway.url, await gateway.token())).url;
  }

  async function gatewayWith(...args: Parameters<typeof startSally>): Promise<string> {
    const { endpoints } = stack.use(await startSally(...args));
    if (!endpoints[0]) throw new Error('sally is ready without an endpoint');
    return endpoints[0].url;
  }
}

interface Fixture extends AsyncDisposable {
  /** Known once it listens. */
  readonly url: Promise<string>;
}

function launchFixture({ era, transport }: Backend, part = 'all'): Fixture {
  const args = [FIXTURE, '--era', era, '--transport', transport, '--part', part];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => (JSON.parse(line) as { url: string }).url),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the fixture ended with ${code}`))),
  ]);
  return { url, [Symbol.asyncDispose]: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

/** The fixture as an installed package, so that `npx://` finds it. */
async function installFixture(folder: string, { era }: Backend): Promise<void> {
  const home = join(folder, 'node_modules/conformance-fixture');
  await mkdir(home, { recursive: true });
  const manifest = { name: 'conformance-fixture', version: '1.0.0', type: 'module', bin: './fixture.js' };
  await writeFile(join(home, 'package.json'), JSON.stringify(manifest));
  const program = [
    '#!/usr/bin/env node',
    `process.argv.push('--era', '${era}', '--transport', 'stdio');`,
    `await import(${JSON.stringify(FIXTURE)});`,
  ];
  await writeFile(join(home, 'fixture.js'), `${program.join('\n')}\n`);
  await chmod(join(home, 'fixture.js'), 0o755);
}

/** A group of entries, and one endpoint that offers everything under its own name: the suite knows no prefixes. */
function folderYaml(backends: readonly Backend[], urls: readonly string[]): string {
  const names = ['one', 'two', 'three'].slice(0, urls.length);
  const groupRef = { name: 'conformance' };
  const resource = (kind: string, name: string, spec: object): object => ({
    apiVersion: 'sallyport.dev/v1alpha1',
    kind,
    metadata: { name },
    spec,
  });
  const entries = names.map((name, index) =>
    resource('MCPServerEntry', name, {
      groupRef,
      remoteUrl: urls[index],
      transport: backends[index]?.transport === 'sse' ? 'sse' : 'streamable-http',
      allowPrivateEndpoint: true,
    }),
  );
  const aggregation = { conflictResolution: 'priority', conflictResolutionConfig: { priorityOrder: names } };
  const gateway = resource('VirtualMCPServer', 'conformance', {
    groupRef,
    incomingAuth: { type: 'anonymous' },
    config: { aggregation },
  });
  return [gateway, resource('MCPGroup', 'conformance', {}), ...entries].map((one) => stringify(one)).join('---\n');
}
