import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { sallyAtTerminal, sallyFed } from '../support/asked.ts';
import { type HttpMcpServer, startHttpMcpServer } from '../support/http-mcp-server.ts';
import { connectClient, startSally } from '../support/sally.ts';
import { type WorkloadHome, workloadHome } from '../support/workloads.ts';

// Each test starts many commands, and a busy machine takes its time for each.
vi.setConfig({ testTimeout: 120_000 });

/** A home with a store of secrets, which is opened without a question. */
async function homeWithStore(): Promise<WorkloadHome & { readonly options: { env: Record<string, string> } }> {
  const home = await workloadHome();
  await home.ok(['secret', 'setup', '--key', 'file']);
  return Object.assign(home, { options: { env: home.env, cwd: home.folder } });
}

const last = (remote: HttpMcpServer) => remote.seen.at(-1) ?? {};

async function call(url: string): Promise<void> {
  await using session = await connectClient(url);
  await session.client.callTool({ name: 'say', arguments: { text: 'x' } });
}

/** Where a word stands: files below a home, command lines and variables of what runs from it. */
function placesWith(word: string, home: WorkloadHome): readonly string[] {
  const files = readdirSync(join(home.folder, 'home'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const processes = home.processes().flatMap((pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`]);
  expect(files.length).toBeGreaterThan(2);
  expect(processes.length).toBeGreaterThan(0);
  return [...files, ...processes].filter((file) => readFileSync(file, 'latin1').includes(word));
}

describe('headers for a server at a URL', () => {
  it('--remote-forward-headers and --remote-forward-headers-secret reach it with every request, and their values stand nowhere', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await homeWithStore();
    await sallyFed(['secret', 'set', 'far-key'], 'hunter-key', home.options);
    const flags = ['--remote-forward-headers', 'X-Team=hunter-team=a b', '--remote-forward-headers', 'x-empty='];
    const secret = ['--remote-forward-headers-secret', 'X-Key=far-key'];
    const run = await home.sally(['run', remote.url, '--name', 'far', '--debug', ...flags, ...secret]);
    expect(run).toMatchObject({ code: 0 });
    const { url } = await home.json<{ url: string }>(['status', 'far']);
    await call(url);
    const headers = { 'x-team': 'hunter-team=a b', 'x-key': 'hunter-key', 'x-empty': '' };
    for (const seen of remote.seen) expect(seen).toMatchObject(headers);
    const said = [await home.ok(['export', 'far']), await home.ok(['logs', '--supervisor', 'far']), run.stderr];
    expect(`${said.join('\n')}${run.stdout}`).not.toContain('hunter');
    expect(placesWith('hunter', home)).toEqual([]);
  });

  it('--remote-auth-bearer-token is shown to it, survives a stop and a start, and goes with the workload', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await homeWithStore();
    const before = readFileSync(join(home.folder, 'home/data/secrets.key'), 'utf8');
    const { url } = await home.json<{ url: string }>([
      ...['run', remote.url, '--name', 'far', '--remote-auth-bearer-token', 'hunter-token'],
    ]);
    await home.ok(['stop', 'far']);
    await home.ok(['start', 'far']);
    await call(url);
    expect(last(remote)).toMatchObject({ authorization: 'Bearer hunter-token' });
    expect(placesWith('hunter', home)).toEqual([]);
    await home.ok(['rm', 'far']);
    expect(readFileSync(join(home.folder, 'home/data/secrets.key'), 'utf8')).toBe(before);
    // What was kept for the workload is gone: its configuration alone does not bring it back.
    await writeFile(join(home.folder, 'far.json'), JSON.stringify(farConfig(remote.url)));
    const again = await home.sally(['run', '--from-config', 'far.json']);
    expect(again).toMatchObject({ code: expect.any(Number), stderr: expect.stringContaining('REMOTE_BEARER_TOKEN') });
    expect(again.code).not.toBe(0);
  });

  it('--remote-auth-bearer-token-file is read at each start', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await workloadHome();
    const file = join(home.folder, 'token');
    await writeFile(file, 'hunter-one\n');
    const { url } = await home.json<{ url: string }>([
      ...['run', remote.url, '--name', 'far', '--remote-auth-bearer-token-file', 'token'],
    ]);
    expect(last(remote)).toMatchObject({ authorization: 'Bearer hunter-one' });
    await writeFile(file, 'hunter-two');
    await home.ok(['restart', 'far']);
    await call(url);
    expect(last(remote)).toMatchObject({ authorization: 'Bearer hunter-two' });
    expect(await home.ok(['export', 'far'])).toContain(`"bearer_token_ref": "file:${file}"`);
    expect(placesWith('hunter', home)).toEqual([]);
  });

  it('in the foreground they need no store', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await workloadHome();
    const flags = ['--remote-auth-bearer-token', 'hunter', '--remote-forward-headers', 'X-A=hunter-a'];
    await using running = await startSally(['run', '-f', remote.url, ...flags], { env: home.env });
    await call(running.endpoints[0]?.url ?? '');
    expect(last(remote)).toMatchObject({ authorization: 'Bearer hunter', 'x-a': 'hunter-a' });
    expect(readdirSync(join(home.folder, 'home'))).not.toContain('data');
  });

  it('in the background without a store nothing is started and nothing kept', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await workloadHome();
    const refused = await home.sally(['run', remote.url, '--name', 'far', '--remote-auth-bearer-token', 'hunter']);
    expect(refused).toMatchObject({ stderr: expect.stringContaining('sally secret setup') });
    expect(await home.json(['list', '--all'])).toEqual([]);
  });

  it('an export has references; where they lead nowhere the person is asked, and the next export is the same', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await homeWithStore();
    await using other = await homeWithStore();
    const flags = ['--remote-forward-headers', 'X-Key=hunter-key', '--remote-auth-bearer-token', 'hunter-token'];
    await home.ok(['run', remote.url, '--name', 'far', ...flags]);
    const exported = await home.ok(['export', 'far']);
    const file = join(other.folder, 'far.json');
    await writeFile(file, exported);
    expect(await other.sally(['run', '--from-config', file])).toMatchObject({
      stderr: expect.stringMatching(/secret\.missing.*X-Key, REMOTE_BEARER_TOKEN/),
    });
    const port = { port: 0 };
    await writeFile(file, JSON.stringify({ ...JSON.parse(exported), ...port }));
    const asked = await sallyAtTerminal(
      ['run', '--from-config', file],
      [
        ['X-Key (a secret of far): ', 'typed-key\r'],
        ['REMOTE_BEARER_TOKEN (a secret of far): ', 'typed-token\r'],
      ],
      other.options,
    );
    expect(asked).toMatchObject({ code: 0, stdout: expect.not.stringContaining('typed-key') });
    expect(last(remote)).toMatchObject({ 'x-key': 'typed-key', authorization: 'Bearer typed-token' });
    const again = JSON.parse(await other.ok(['export', 'far']));
    expect({ ...again, ...port }).toEqual({ ...JSON.parse(exported), ...port });
    // Where they do lead somewhere, nobody is asked, and the text is the same to the letter.
    await writeFile(file, await other.ok(['export', 'far']));
    await other.ok(['restart', 'far']);
    expect(await other.ok(['export', 'far'])).toBe(await readFile(file, 'utf8'));
  });

  it('update gives new values, and takes them back when the new form does not come up', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await homeWithStore();
    const { url } = await home.json<{ url: string }>([
      ...['run', remote.url, '--name', 'far', '--remote-forward-headers', 'X-Key=first'],
    ]);
    await home.ok(['update', 'far', '--remote-forward-headers', 'x-key=second']);
    await call(url);
    expect(last(remote)).toMatchObject({ 'x-key': 'second' });
    const before = await home.ok(['export', 'far']);
    expect(Object.keys(JSON.parse(before).header_forward.add_headers_from_secret)).toEqual(['x-key']);
    const failed = await home.sally([
      ...['update', 'far', '--remote-forward-headers', 'X-Key=third'],
      ...['--host', '192.0.2.1', '--insecure-allow-anonymous'],
    ]);
    expect(failed.stderr).toContain('so the old form runs again');
    await call(url);
    expect(last(remote)).toMatchObject({ 'x-key': 'second' });
    expect(await home.ok(['export', 'far'])).toBe(before);
  });

  it('over http to another machine they are said to be readable on the way', async () => {
    await using home = await workloadHome([]);
    const told = async (url: string) =>
      (await home.sally(['run', '-f', url, '--remote-auth-bearer-token', 'hunter2'])).stderr.includes('Better: https');
    expect(await told('http://mcp.invalid/mcp')).toBe(true);
    expect(await told('https://mcp.invalid/mcp')).toBe(false);
    expect(await told('http://127.0.0.1:9/mcp')).toBe(false);
  });

  it('a workload that is there keeps its values when its name is taken again', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await homeWithStore();
    await home.ok(['run', remote.url, '--name', 'far', '--remote-forward-headers', 'X-Key=first']);
    const taken = await home.sally(['run', remote.url, '--name', 'far', '--remote-forward-headers', 'X-Key=other']);
    expect(taken.stderr).toContain('workload.exists');
    await home.ok(['restart', 'far']);
    expect(last(remote)).toMatchObject({ 'x-key': 'first' });
  });

  it.each([
    [['--remote-forward-headers', 'hunter2'], '--remote-forward-headers is not Name=VALUE'],
    [['--remote-forward-headers', 'Host=hunter2'], 'frames the HTTP message'],
    [['--remote-forward-headers', 'Content-Length=2'], 'frames the HTTP message'],
    [['--remote-forward-headers', 'Transfer-Encoding=hunter2'], 'frames the HTTP message'],
    [['--remote-forward-headers', 'Proxy-Authorization=hunter2'], 'must not be a header of MCP'],
    [['--remote-forward-headers', 'Mcp-Session-Id=hunter2'], 'must not be a header of MCP'],
    [['--remote-forward-headers', 'X-A=hunter2\r\nX-B: 1'], 'X-A is not one line'],
    [['--remote-forward-headers', 'X A=hunter2'], '--remote-forward-headers is not Name=VALUE'],
    [['--remote-forward-headers', 'X(A)=hunter2'], 'must be the name of an HTTP header'],
    [['--remote-forward-headers-secret', 'X-A=__sally_workload_y/X-A'], '__sally_workload_y'],
    [['--remote-forward-headers-secret', 'X-A='], 'cannot name a secret'],
    [['--remote-forward-headers', 'X-A=hunter2', '--remote-forward-headers-secret', 'x-a=s'], 'x-a is given twice'],
    [
      ['--remote-auth-bearer-token', 'hunter2', '--remote-forward-headers', 'authorization=hunter2'],
      'bearer token and',
    ],
    [['--remote-auth-bearer-token', 'hunter2 x'], 'the bearer token is empty, or has'],
    [['--remote-auth-bearer-token', 'hunter2', '--remote-auth-bearer-token-file', 'x'], 'cannot be used with'],
    [['--remote-auth-bearer-token-file', 'nowhere'], 'nowhere'],
  ])('%j is refused, and no value is repeated', async (flags, says) => {
    await using home = await workloadHome([]);
    const { code, stderr } = await home.sally(['run', 'https://mcp.example.com/mcp', ...flags]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(says) });
    expect(stderr).not.toContain('hunter2');
  });

  it('they are refused where the server is no URL, and a value with a line break is, wherever it comes from', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await workloadHome();
    for (const flags of [
      ['--remote-forward-headers', 'X-A=hunter2'],
      ['--remote-forward-headers-secret', 'X-A=a'],
      ['--remote-auth-bearer-token', 'hunter2'],
      ['--remote-auth-bearer-token-file', 'x'],
    ]) {
      const { code, stderr } = await home.sally(['run', 'npx://good', ...flags]);
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining(`${flags[0]} is for a server at a URL`),
      });
    }
    const broken = await home.sally(['run', remote.url, '--remote-forward-headers-secret', 'X-A=a'], {
      env: { SALLYPORT_SECRET_A: 'hunter2\r\nX-Evil: 1' },
    });
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining('X-A is not one line') });
    expect(broken.stderr).not.toContain('hunter2');
    expect(remote.seen).toEqual([]);
  });
});

describe('a server elsewhere that a registry names', () => {
  async function withRegistry(url: string, headers: readonly object[]) {
    const home = await homeWithStore();
    const server = {
      name: 'dev.acme/far',
      description: 'Far',
      version: '1',
      remotes: [{ type: 'streamable-http', url, headers }],
    };
    await writeFile(join(home.folder, 'servers.json'), JSON.stringify({ servers: [server] }));
    await home.ok(['config', 'set-registry', 'servers.json']);
    return home;
  }
  const KEY = { name: 'X-Key', description: 'your key', isRequired: true, isSecret: true };

  it('is never on this machine or in this network, unless the person typed its URL himself', async () => {
    await using remote = await startHttpMcpServer();
    const secret = new URL(remote.url);
    await using home = await withRegistry(`https://localhost:${secret.port}/mcp`, []);
    const refused = await home.sally(['run', 'far']);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('requests to localhost (127.0.0.1) are not allowed');
    expect(refused.stderr).toContain('run by its URL');
    await home.ok(['run', remote.url, '--name', 'typed']);
  });

  it('needs its headers: named where nobody can be asked, and asked for at a terminal', async () => {
    await using home = await withRegistry('https://127.0.0.1:9/mcp', [KEY]);
    const missing = await home.sally(['run', 'far']);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringMatching(/variable_missing.*X-Key: your key/s) });
    expect(missing.stderr).toContain('--remote-forward-headers-secret X-Key=NAME');
    const asked = await sallyAtTerminal(['run', 'far'], [['X-Key (your key): ', 'typed-key\r']], home.options);
    expect(asked.stdout).toContain('fetch.address_refused'); // it went on with the answer, up to the address
    expect(asked.stdout).not.toContain('typed-key');
    for (const flags of [
      ['--remote-forward-headers', 'x-key=given'],
      ['--remote-forward-headers-secret', 'X-KEY=a'],
    ]) {
      const given = await home.sally(['run', 'far', '--name', 'given', ...flags], { env: { SALLYPORT_SECRET_A: 'v' } });
      expect(given.stderr).toContain('fetch.address_refused');
    }
  });
});

function farConfig(url: string): object {
  return {
    schema_version: 'sallyport/v1',
    name: 'far',
    remote_url: url,
    transport: 'streamable-http',
    remote_auth_config: { bearer_token_ref: 'secret:__sally_workload_far/bearer-token:00000000' },
  };
}
