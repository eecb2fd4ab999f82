import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { BASE_IMAGE, SERVER_IMAGE, type TestEngine } from '../support/engine.ts';
import { eventually } from '../support/processes.ts';
import { type RunningServer, runServer } from '../support/run-server.ts';
import { connectClient, startSally } from '../support/sally.ts';
import { sharedEngine } from '../support/shared-engines.ts';
import { type View, type WorkloadHome, workloadHome } from '../support/workloads.ts';

// Engines take their time, and the base image is made when it is not there yet.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 600_000 });

describe.each(['docker', 'podman'] as const)('servers in containers of %s', (kind) => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await sharedEngine(kind);
  });
  afterEach(async () => expect(await engine.containers()).toEqual([]));
  const newHome = (): Promise<WorkloadHome> => workloadHome([], engine.env);

  it('speak over stdio, byte for byte, with their stderr as log, and leave nothing behind', async () => {
    await using home = await newHome();
    {
      await using server = await runServer(home, ['--name', 'plain', '-e', 'COLOUR=blue', '--', 'one', '$(two)']);
      const text = 'a\u00a0b\u200d\u2028\u{1f642}\u0007 \\ "x" $HOME `id`';
      expect(await server.call('echo', { text })).toBe(text);
      expect(JSON.parse(await server.call('env'))).toMatchObject({ COLOUR: 'blue' });
      const long = 'x'.repeat(3_000_000);
      expect(await server.call('echo', { text: long })).toBe(long);
      expect(await home.ok(['logs', 'plain'])).toContain('the server speaks stdio one $(two)');
    }
    await home.ok(['stop', 'plain']);
    expect(await engine.containers()).toEqual([]);
    await home.ok(['start', 'plain']);
    expect(await engine.containers()).toHaveLength(1);
    await home.ok(['rm', 'plain']);
  });

  it('speak HTTP through our relay, without a port of this machine', async () => {
    await using home = await newHome();
    await using server = await runServer(home, [
      '--name',
      'web',
      '--transport',
      'streamable-http',
      '--target-port',
      '9000',
    ]);
    expect(await server.call('echo', { text: 'hello' })).toBe('hello');
    expect(JSON.parse(await server.call('env'))).toMatchObject({ MCP_PORT: '9000', MCP_HOST: '127.0.0.1' });
    const found = JSON.parse(await engine.cli('inspect', ...(await engine.containers()))) as Inspected[];
    for (const { HostConfig, NetworkSettings } of found) {
      expect(Object.values(HostConfig.PortBindings ?? {})).toEqual([]);
      expect(Object.values(NetworkSettings.Ports ?? {}).filter(Boolean)).toEqual([]);
    }
  });

  it('get no rights that they do not need', async () => {
    await using home = await newHome();
    await using server = await runServer(home, ['--memory', '256m', '--pids-limit', '100', '-l', 'team=blue']);
    const status = JSON.parse(await server.call('status')) as Record<string, string>;
    expect(status).toMatchObject({
      NoNewPrivs: '1',
      Seccomp: '2',
      CapBnd: '0000000000000000',
      CapEff: '0000000000000000',
    });
    expect(JSON.parse(await server.call('limits'))).toEqual({ memory: String(256 * 1024 ** 2), pids: '100' });
    expect(await server.call('write', { path: '/srv/x' })).toContain('EROFS');
    expect(await server.call('write', { path: '/tmp/x' })).toBe('written');
    expect(await server.call('fork', { count: 200 })).toMatch(/^ERR/);
    const [container] = JSON.parse(await engine.cli('inspect', ...(await engine.containers()))) as Inspected[];
    expect(container?.Config.Labels).toMatchObject({ team: 'blue', 'dev.sallyport/workload': server.name });
    expect(container?.HostConfig).toMatchObject({ Privileged: false, LogConfig: { Type: 'none' } });
  });

  it('may write to their own files when they cannot do without, and only then', async () => {
    await using home = await newHome();
    const writes = ['-e', 'WRITE_AT_START=/tmp/../opt/x'];
    const user = (path: string) => ['-e', `WRITE_AT_START=${path}`];
    await using tolerated = await runServer(home, ['--name', 'tolerated', ...user('/home/x')], await ownedBy(engine));
    expect(await tolerated.call('echo', { text: 'x' })).toBe('x');
    const [container] = JSON.parse(await engine.cli('inspect', ...(await engine.containers()))) as Inspected[];
    expect(container?.HostConfig.ReadonlyRootfs).toBe(false);
    const strict = await home.sally(['run', SERVER_IMAGE, '--name', 'strict', '--read-only-root', 'true', ...writes]);
    expect(strict.code).toBe(5);
    expect(strict.stderr).toContain('--read-only-root false');
    await home.ok(['rm', '--all']);
  });

  it('are isolated by their profile: one door, and only to what it names', async () => {
    await using home = await newHome();
    await using server = await confined(home, {
      allow_host: ['.example.com', '127.0.0.1', '169.254.169.254'],
      allow_port: [80],
    });
    expect(JSON.parse(await server.call('interfaces'))).toEqual(['lo']);
    expect(await server.call('resolve', { host: 'deb.debian.org' })).toMatch(/^ERR/);
    for (const host of ['172.17.0.1', '10.0.0.1', '1.1.1.1', '169.254.169.254'])
      expect(await server.call('connect', { host, port: 80 })).toMatch(/^ERR ENETUNREACH/);
    const refused = async (url: string): Promise<string> =>
      (JSON.parse(await server.call('get', { url })) as Answer).body ?? '';
    expect(await refused('http://example.org/')).toContain('not in allow_host');
    expect(await refused('http://api.example.com:8080/')).toContain('not in allow_port');
    expect(await refused('http://localhost/')).toContain('this machine');
    expect(await refused('http://host.docker.internal/')).toContain('this machine');
    for (const target of ['127.0.0.1:80', '[::1]:80', '2130706433:80', '169.254.169.254:80', 'x'.repeat(300)])
      expect(JSON.parse(await server.call('tunnel', { target }))).toMatchObject({
        status: expect.toSatisfy((s) => s === 403 || s === 400),
      });
    // The log of the supervisor says who was kept from what.
    expect(await home.ok(['logs', '--supervisor', server.name])).toContain('server was kept from reaching out');
    await home.ok(['rm', server.name]);
  });

  it('reach this machine from isolation only when the gateway is opened', async () => {
    await using home = await newHome();
    await using website = await startWebsite();
    const url = `http://host.docker.internal:${website.port}/`;
    await using open = await confined(home, { insecure_allow_all: true }, [
      '--isolate-network',
      '--allow-docker-gateway',
      '--name',
      'open',
    ]);
    expect(JSON.parse(await open.call('get', { url }))).toEqual({ status: 200, body: 'hello from outside' });
    await using closed = await confined(home, { insecure_allow_all: true }, ['--isolate-network', '--name', 'closed']);
    expect(JSON.parse(await closed.call('get', { url }))).toMatchObject({ status: 403 });
    await home.ok(['rm', '--all']);
    expect(website.headers).not.toHaveProperty('proxy-authorization');
    expect(website.headers).toMatchObject({ host: `host.docker.internal:${website.port}` });
  });

  it('have no network at all with the profile none', async () => {
    await using home = await newHome();
    await using server = await runServer(home, ['--name', 'mute', '--permission-profile', 'none']);
    expect(JSON.parse(await server.call('interfaces'))).toEqual(['lo']);
    expect(await server.call('connect', { host: '127.0.0.1', port: 3128 })).toContain('ECONNREFUSED');
    expect(await home.ok(['net', 'test', 'mute', 'example.com:443'])).toContain(
      'refused: example.com:443\n  the container has no network',
    );
    await home.ok(['rm', 'mute']);
  });

  it('see mounts without what ignore files hide', async () => {
    await using home = await newHome();
    const data = join(home.folder, 'data');
    await mkdir(join(data, 'deep/.git'), { recursive: true });
    await mkdir(join(data, 'secrets'));
    for (const [path, text] of Object.entries({
      '.sallyignore': '*.pem\nsecrets/\n!public.pem\n',
      'plain.txt': 'plain',
      'deep/key.pem': 'private',
      'public.pem': 'public',
      'secrets/token': 'hunter2',
    }))
      await writeFile(join(data, path), text);
    await chmod(data, 0o777);
    const printed = await home.sally([
      'run',
      SERVER_IMAGE,
      '--name',
      'files',
      '-v',
      `${data}:/data:ro`,
      '--print-resolved-overlays',
    ]);
    expect(printed.stderr).toContain('hidden from files: /data/deep/key.pem');
    expect(printed.stderr).toContain('hidden from files: /data/secrets');
    await home.ok(['rm', 'files']);
    await using server = await runServer(home, ['--name', 'files', '-v', `${data}:/data`]);
    expect(await server.call('read', { path: '/data/plain.txt' })).toBe('plain');
    expect(await server.call('read', { path: '/data/public.pem' })).toBe('public');
    expect(await server.call('read', { path: '/data/deep/key.pem' })).not.toContain('private');
    expect(await server.call('list', { path: '/data/secrets' })).toMatch(/^\[\]$|^ERR/);
    expect(await server.call('write', { path: '/data/secrets/token' })).toMatch(/^ERR/);
    expect(await server.call('write', { path: '/data/new.txt' })).toBe('written');
    expect(await readFile(join(data, 'secrets/token'), 'utf8')).toBe('hunter2');
    await home.ok(['rm', 'files']);
    await symlink('/etc/passwd', join(data, 'link.pem'));
    const { code, stderr } = await home.sally(['run', SERVER_IMAGE, '-v', `${data}:/data`]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is a link and cannot be hidden'),
    });
  });

  it('are started again when they end, also when somebody removes the container', async () => {
    await using home = await newHome();
    await using server = await runServer(home, ['--name', 'mortal']);
    const [first = ''] = await engine.containers();
    await server.call('exit', { code: 3 });
    const changed = async (before: string): Promise<string> => {
      const look = async (): Promise<readonly string[]> => engine.containers();
      const [now = ''] = await eventually(look, (names) => names.length === 1 && names[0] !== before, 20_000);
      return now;
    };
    const second = await changed(first);
    await eventually(
      () => home.json<View>(['status', 'mortal']),
      ({ status }) => status === 'running',
      20_000,
    );
    await engine.cli('rm', '-f', second);
    await changed(second);
    await home.ok(['rm', 'mortal']);
  });

  it('go when their supervisor is killed', async () => {
    await using home = await newHome();
    await runServer(home, ['--name', 'orphan', '--transport', 'streamable-http']);
    expect(await engine.containers()).toHaveLength(2);
    const { pid } = await home.json<View>(['status', 'orphan']);
    process.kill(pid ?? 0, 'SIGKILL');
    await eventually(
      () => engine.containers(),
      (names) => names.length === 0,
      20_000,
    );
    expect(await home.json<View>(['status', 'orphan'])).toMatchObject({ status: 'lost' });
  });

  it('are never touched when they are not ours', async () => {
    await using home = await newHome();
    await engine.cli('create', '--name', 'sallyport-mine-server-00000000', SERVER_IMAGE);
    try {
      await runServer(home, ['--name', 'mine']);
      await home.ok(['rm', '--all']);
      expect(await engine.cli('ps', '-a', '--format', '{{.Names}}')).toContain('sallyport-mine-server-00000000');
    } finally {
      await engine.cli('rm', '-f', 'sallyport-mine-server-00000000');
    }
  });

  it('fail with a reason', async () => {
    await using home = await newHome();
    const failing = async (...words: string[]) => await home.sally(['run', ...words]);
    expect(await failing('sally-test/nowhere:1')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('workload.image_missing'),
    });
    expect(await failing(SERVER_IMAGE, '-v', '/nowhere:/data')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is nothing'),
    });
    expect(await failing(SERVER_IMAGE, '--network', 'host', '--transport', 'streamable-http')).toMatchObject({
      stderr: expect.stringContaining('around the gate'),
    });
    expect(await failing(SERVER_IMAGE, '--network', 'host', '--isolate-network')).toMatchObject({
      stderr: expect.stringContaining('cannot be enforced'),
    });
    expect(await failing(SERVER_IMAGE, '--image-verification', 'enabled')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('nothing says who must have signed it'),
    });
    expect(await failing('npx://x', '--image-verification', 'enabled')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('nobody signs what is built here'),
    });
    expect(await failing(SERVER_IMAGE, '--runtime', 'process')).toMatchObject({
      stderr: expect.stringContaining('cannot run as a process'),
    });
    expect(await failing('npx://x', '--runtime-image', BASE_IMAGE, '--runtime-add-package', '-o=evil')).toMatchObject({
      code: 2,
    });
    const other = kind === 'docker' ? 'podman' : 'docker';
    expect(await failing(SERVER_IMAGE, '--runtime', other)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining(`is ${kind}`),
    });
  });
});

describe('a virtual server', () => {
  it('has servers in containers among its own', async () => {
    const engine = await sharedEngine('docker');
    await using home = await workloadHome([], engine.env);
    const yaml = ['VirtualMCPServer', 'MCPGroup', 'MCPServer'].map(
      (kind) =>
        `apiVersion: sallyport.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: boxes}\nspec:\n${SPECS[kind as keyof typeof SPECS]}`,
    );
    await writeFile(join(home.folder, 'all.yaml'), yaml.join('---\n'));
    await using gateway = await startSally(['vmcp', 'serve', '-f', home.folder, '--port', '0'], {
      env: home.env,
    });
    await using session = await connectClient(gateway.endpoints[0]?.url ?? '');
    const { content } = await session.client.callTool({ name: 'boxes_interfaces', arguments: {} });
    expect(content).toEqual([{ type: 'text', text: '["lo"]' }]);
  });
});

const SPECS = {
  VirtualMCPServer: '  groupRef: {name: boxes}\n  incomingAuth: {type: anonymous}\n',
  MCPGroup: '  description: boxes\n',
  MCPServer: `  groupRef: {name: boxes}\n  image: ${SERVER_IMAGE}\n  permissionProfile: {name: none}\n`,
};

interface Inspected {
  readonly Config: { readonly Labels: Record<string, string> };
  readonly HostConfig: { readonly PortBindings?: Record<string, unknown>; readonly ReadonlyRootfs?: boolean };
  readonly NetworkSettings: { readonly Ports?: Record<string, unknown> };
}

interface Answer {
  readonly status: number;
  readonly body?: string;
}

async function confined(home: WorkloadHome, outbound: object, flags: readonly string[] = []): Promise<RunningServer> {
  const file = join(home.folder, 'profile.json');
  await writeFile(file, JSON.stringify({ network: { outbound } }));
  return await runServer(home, ['--permission-profile', file, ...flags]);
}

/** An image whose server may write below /home, were it not read-only. */
async function ownedBy(engine: TestEngine): Promise<string> {
  const image = 'sally-test/writer:1';
  const id = (await engine.cli('create', SERVER_IMAGE)).trim();
  await engine.cli('commit', '--change', 'USER 0:0', id, image);
  await engine.cli('rm', id);
  return image;
}

interface Website extends AsyncDisposable {
  readonly port: number;
  readonly headers: Readonly<Record<string, unknown>>;
}

async function startWebsite(): Promise<Website> {
  let headers: Record<string, unknown> = {};
  const server = createServer((request, response) => {
    headers = request.headers;
    response.end('hello from outside');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get headers() {
      return headers;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
