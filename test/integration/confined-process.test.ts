import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { serverYaml } from '../support/mcp-servers.ts';
import { eventually } from '../support/processes.ts';
import { TEST_PATH } from '../support/programs.ts';
import { connectClient, ROOT, startSally } from '../support/sally.ts';
import { type View, type WorkloadHome, workloadHome } from '../support/workloads.ts';

vi.setConfig({ testTimeout: 120_000 });

const NONE = ['--permission-profile', 'none'];

interface Confined extends AsyncDisposable {
  call(tool: string, args?: Record<string, unknown>): Promise<string>;
}

/** The server that tells what it may do, installed as a package. */
async function newHome(): Promise<WorkloadHome> {
  const home = await workloadHome(['good']);
  const place = join(home.folder, 'node_modules/probe');
  await mkdir(place, { recursive: true });
  await copyFile(join(ROOT, 'test/fixtures/images/server/server.mjs'), join(place, 'server.mjs'));
  await writeFile(join(place, 'package.json'), '{"name":"probe","version":"1.0.0","bin":"./server.mjs"}');
  return home;
}

async function start(
  home: WorkloadHome,
  flags: readonly string[],
  server = 'npx://probe',
  env: Record<string, string> = {},
): Promise<Confined> {
  const end = flags.includes('--') ? flags.indexOf('--') : flags.length;
  // Walls keep this variable out, so it is said once more: by it the test finds what runs.
  const mark = ['-e', `XDG_TEST_MARK=${home.env.XDG_TEST_MARK}`];
  const words = ['run', server, '--runtime', 'process', ...mark, ...flags.slice(0, end), '--format', 'json'];
  const { url } = JSON.parse(await home.ok([...words, ...flags.slice(end)], { env })) as { url: string };
  const session = await connectClient(url);
  return {
    async call(tool, args = {}) {
      const { content, isError } = await session.client.callTool({ name: tool, arguments: args });
      return `${isError ? 'ERR ' : ''}${(content[0] as { text: string }).text}`;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

describe('a confined process', () => {
  it('has no rights, no network, no files and no processes but its own', async () => {
    await using home = await newHome();
    await writeFile(join(home.folder, 'diary.txt'), 'dear diary');
    await using server = await start(home, ['--name', 'walled', ...NONE]);
    expect(JSON.parse(await server.call('interfaces'))).toEqual(['lo']);
    expect(JSON.parse(await server.call('status'))).toMatchObject({
      NoNewPrivs: '1',
      CapEff: '0000000000000000',
      CapBnd: '0000000000000000',
      Uid: '1000\t1000\t1000\t1000',
    });
    expect(await server.call('read', { path: join(home.folder, 'diary.txt') })).toMatch(/^ERR ENOENT/);
    expect(JSON.parse(await server.call('list', { path: '/etc' }))).not.toContain('shadow');
    expect(await server.call('read', { path: '/etc/passwd' })).toBe('server:x:1000:1000::/home/server:/bin/sh\n');
    expect(JSON.parse(await server.call('list', { path: '/home/server' }))).toEqual([]);
    const processes = (JSON.parse(await server.call('list', { path: '/proc' })) as string[]).filter((n) =>
      /^\d+$/.test(n),
    );
    expect(processes.length).toBeLessThan(6);
    for (const path of ['/x', '/usr/x', '/dev/x', '/etc/hosts', join(home.folder, 'node_modules/probe/server.mjs')])
      expect(await server.call('write', { path })).toMatch(/^ERR E(ROFS|ACCES|PERM)/);
    for (const path of ['/tmp/x', '/home/server/x']) expect(await server.call('write', { path })).toBe('written');
    expect(existsSync('/tmp/x')).toBe(false);
    expect(await home.ok(['net', 'test', 'walled', 'example.com:443'])).toBe(
      'refused: example.com:443\n  the server has no network\n',
    );
  });

  it('gets its secrets in its environment, where ps does not show them, and nothing of ours', async () => {
    await using home = await newHome();
    const token = `hunter2-${process.pid}-${Date.now()}`;
    const env = {
      API_TOKEN_OF_OURS: 'ours',
      XDG_DATA_HOME: '/home/me/data',
      HTTPS_PROXY: 'http://me:pw@proxy.example',
    };
    await using server = await start(home, ['--name', 'quiet', ...NONE, '-e', `TOKEN=${token}`], 'npx://probe', env);
    const seen = JSON.parse(await server.call('env')) as Record<string, string>;
    expect(seen).toMatchObject({ TOKEN: token, HOME: '/home/server', TMPDIR: '/tmp', USER: 'server' });
    for (const name of ['API_TOKEN_OF_OURS', 'XDG_DATA_HOME', 'HTTPS_PROXY']) expect(seen).not.toHaveProperty(name);
    expect((await commands()).filter((command) => command.includes(token))).toEqual([]);
    const files = JSON.parse(await server.call('files')) as string[];
    expect(files.filter((file) => /^\/(?!dev\/null|proc)/.test(file))).toEqual([]);
  });

  it('speaks HTTP through our relay, without a port of this machine', async () => {
    await using home = await newHome();
    const profile = join(home.folder, 'profile.json');
    await writeFile(profile, '{"network":{"outbound":{"allow_host":["example.com"],"allow_port":[443]}}}');
    const flags = ['--name', 'web', '--transport', 'streamable-http', '--target-port', '3128'];
    await using server = await start(home, [...flags, '--permission-profile', profile]);
    expect(await server.call('echo', { text: 'hello' })).toBe('hello');
    expect(JSON.parse(await server.call('env'))).toMatchObject({
      MCP_PORT: '3128',
      HTTPS_PROXY: 'http://127.0.0.1:3129',
    });
    await expect(fetch('http://127.0.0.1:3128/mcp')).rejects.toThrow();
    const explained = await home.ok(['net', 'test', 'web', 'example.com:80']);
    expect(explained).toContain('refused: example.com:80\n  the port is not in allow_port of the profile');
  });

  it('sees its mounts, without what ignore files hide', async () => {
    await using home = await newHome();
    const data = join(home.folder, 'data');
    await mkdir(join(data, 'secrets'), { recursive: true });
    await mkdir(join(data, 'deep'));
    const texts = {
      '.sallyignore': '*.pem\nsecrets/\n',
      'plain.txt': 'plain',
      'deep/key.pem': 'private',
      'secrets/token': 'hunter2',
    };
    for (const [path, text] of Object.entries(texts)) await writeFile(join(data, path), text);
    const mounts = ['-v', `${data}:/data`, '-v', `${data}:/fixed:ro`];
    await using server = await start(home, ['--name', 'files', ...NONE, ...mounts]);
    expect(await server.call('read', { path: '/data/plain.txt' })).toBe('plain');
    expect(await server.call('read', { path: '/data/deep/key.pem' })).toBe('');
    expect(await server.call('list', { path: '/data/secrets' })).toBe('[]');
    expect(await server.call('write', { path: '/data/secrets/token' })).toMatch(/^ERR EROFS/);
    expect(await server.call('write', { path: '/fixed/new.txt' })).toMatch(/^ERR EROFS/);
    // Nor does it decide what it sees next time.
    expect(await server.call('write', { path: '/data/.sallyignore' })).toMatch(/^ERR EROFS/);
    expect(await server.call('write', { path: '/data/new.txt' })).toBe('written');
    expect(await readFile(join(data, 'new.txt'), 'utf8')).toBe('x');
    expect(await readFile(join(data, 'secrets/token'), 'utf8')).toBe('hunter2');
    await symlink('/etc/passwd', join(data, 'link.pem'));
    const refused = await home.sally(['run', 'npx://probe', '--runtime', 'process', '-v', `${data}:/data`]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is a link and cannot be hidden') });
  });

  it('ends in peace when it is stopped, and at once when its supervisor is killed', async () => {
    await using home = await newHome();
    const data = join(home.folder, 'data');
    await mkdir(data);
    const flags = ['--transport', 'streamable-http', '-v', `${data}:/data`, '-e', 'WRITE_AT_END=/data/end', ...NONE];
    await using _server = await start(home, ['--name', 'mortal', ...flags]);
    await home.ok(['stop', 'mortal']);
    expect(await readFile(join(data, 'end'), 'utf8')).toBe('ended in peace');
    expect(home.processes()).toEqual([]);
    await home.ok(['start', 'mortal']);
    const { pid = 0 } = await home.json<View>(['status', 'mortal']);
    const sockets = await socketFolders();
    // The supervisor, the relay and the server. Bubblewrap gets no variable but our own mark.
    expect(home.processes()).toHaveLength(3);
    process.kill(pid, 'SIGKILL');
    await eventually(
      () => home.processes(),
      (left) => left.length === 0,
      10_000,
    );
    await eventually(socketFolders, (left) => left.length < sockets.length, 10_000);
    expect(await home.json<View>(['status', 'mortal'])).toMatchObject({ status: 'lost' });
  });

  it('has nothing open but its own pipes, and is started again when it ends', async () => {
    await using home = await newHome();
    await using server = await start(home, ['--name', 'again', '--isolate-network']);
    const files = JSON.parse(await server.call('files')) as string[];
    // stdin, stdout and stderr. The pipe between us and the relay is not among them.
    expect(files.filter((file) => file.startsWith('socket:'))).toHaveLength(3);
    await server.call('exit', { code: 3 });
    const said = () => home.ok(['logs', '--supervisor', 'again']);
    expect(await eventually(said, (text) => /started again/.test(text), 10_000)).toContain('ended with exit code 3');
    await eventually(
      () => home.json<View>(['status', 'again']),
      ({ status }) => status === 'running',
      20_000,
    );
  });

  it('keeps the network of this machine where only its files are confined, and says so', async () => {
    await using home = await newHome();
    const { code, stderr } = await home.sally([
      'run',
      'npx://good',
      '--runtime',
      'process',
      '--permission-profile',
      'network',
    ]);
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        'its memory and processes are not limited, and it reaches what this machine reaches',
      ),
    });
    expect(await home.ok(['net', 'test', 'good', 'example.com:443'])).toContain('the network of this machine');
  });
});

describe('packages for a confined process', () => {
  it('are fetched before the walls close, without running anything of theirs', async () => {
    await using home = await newHome();
    const server = 'npx://@modelcontextprotocol/server-memory@2026.8.31';
    await using memory = await start(home, ['--name', 'memory', ...NONE], server);
    expect(await memory.call('read_graph')).toContain('entities');
    const again = await home.sally(['run', server, '--name', 'second', '--runtime', 'process', ...NONE]);
    expect(again).toMatchObject({ code: 0, stderr: expect.not.stringContaining('fetching') });
  });

  it('come from PyPI and from folders of Go too', async () => {
    await using home = await newHome();
    const env = { PATH: TEST_PATH };
    await using time = await start(
      home,
      ['--name', 'time', ...NONE, '--', '--local-timezone', 'UTC'],
      'uvx://mcp-server-time',
      env,
    );
    expect(await time.call('get_current_time', { timezone: 'UTC' })).toContain('UTC');
    const source = `go://./${'go-server'}`;
    await home.ok(['run', source, '--name', 'go', '--runtime', 'process', ...NONE], {
      cwd: join(ROOT, 'test/fixtures'),
    });
    const { url = '' } = await home.json<View>(['status', 'go']);
    await using session = await connectClient(url);
    expect((await session.client.listTools()).tools.length).toBeGreaterThan(0);
  });

  it('that are not there are an error with what the tool said', async () => {
    await using home = await newHome();
    const missing = 'npx://@modelcontextprotocol/there-is-no-such-server';
    const { code, stderr } = await home.sally(['run', missing, '--runtime', 'process', ...NONE]);
    expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining('check the name and version') });
  });
});

describe('where walls cannot be built', () => {
  it('nothing runs without them, and the error says what to install', async () => {
    await using home = await newHome();
    const empty = join(home.folder, 'empty');
    await mkdir(empty);
    const words = ['run', 'npx://probe', '--runtime', 'process', ...NONE];
    const missing = await home.sally(words, { env: { PATH: empty } });
    expect(missing).toMatchObject({ code: 5, stderr: expect.stringContaining('apt install bubblewrap') });
    await writeFile(
      join(empty, 'bwrap'),
      '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n',
    );
    await chmod(join(empty, 'bwrap'), 0o755);
    const broken = await home.sally(words, { env: { PATH: empty } });
    expect(broken).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('No permissions to create new namespace'),
    });
    expect(await home.json<View[]>(['list', '-a'])).toEqual([]);
  });

  it('a workload that was confined does not come back without its walls', async () => {
    await using home = await newHome();
    await using _server = await start(home, ['--name', 'kept', ...NONE]);
    await home.ok(['stop', 'kept']);
    const { code, stderr } = await home.sally(['start', 'kept'], { env: { PATH: '/nowhere' } });
    expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining('cannot be confined') });
  });

  it('what walls cannot do is refused', async () => {
    await using home = await newHome();
    const profile = join(home.folder, 'profile.json');
    await writeFile(profile, '{"privileged":true}');
    for (const [flags, why] of [
      [['--permission-profile', profile], 'no profile can make privileged'],
      [[...NONE, '-p', '80:80'], 'publish'],
      [[...NONE, '--memory', '512m'], 'memory'],
      [['--network', 'host'], 'cannot join the network host'],
      [['--network', 'host', ...NONE], 'cannot be enforced'],
      [['-v', '/nowhere:/data'], 'there is nothing'],
    ] as const) {
      const { code, stderr } = await home.sally(['run', 'npx://probe', '--runtime', 'process', ...flags]);
      expect({ flags, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
    }
  });
});

describe('a server of a virtual server', () => {
  it('gets the walls that its resource declares', async () => {
    await using home = await newHome();
    const gateway = ['VirtualMCPServer', 'MCPGroup'].map(
      (kind) =>
        `apiVersion: sallyport.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: test}\n${kind === 'MCPGroup' ? '' : 'spec:\n  groupRef: {name: test}\n  incomingAuth: {type: anonymous}\n'}`,
    );
    const server = serverYaml('probe', { extra: '  permissionProfile: {name: none}\n' });
    await writeFile(join(home.folder, 'all.yaml'), [...gateway, server].join('---\n'));
    await using running = await startSally(['vmcp', 'serve', '-f', home.folder, '--port', '0'], { env: home.env });
    await using session = await connectClient(running.endpoints[0]?.url ?? '');
    const { content } = await session.client.callTool({ name: 'probe_interfaces', arguments: {} });
    expect(content).toEqual([{ type: 'text', text: '["lo"]' }]);
    await running.stop();
    const path = join(home.folder, 'bin');
    await mkdir(path);
    const refused = await home.sally(['vmcp', 'serve', '-f', home.folder, '--port', '0'], { env: { PATH: path } });
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('bubblewrap (bwrap) is not here') });
    await rm(path, { recursive: true });
  });
});

/** The arguments of everything that runs on this machine. */
async function commands(): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')));
}

async function socketFolders(): Promise<readonly string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith('sally-sockets-'));
}
