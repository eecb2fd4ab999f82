import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startHttpMcpServer } from '../support/http-mcp-server.ts';
import { groupYaml, installServers, type ServerName, serverYaml } from '../support/mcp-servers.ts';
import { processesWith } from '../support/processes.ts';
import { connectClient, type Finished, sally, startSally, tempFolder } from '../support/sally.ts';

/** Runs a command that must fail, and checks what every failure has in common. */
async function failing(args: readonly string[], cwd?: string): Promise<Finished> {
  const mark = `bad-${process.pid}-${Math.random()}`;
  const finished = await sally(args, { env: { XDG_TEST_MARK: mark }, ...(cwd === undefined ? {} : { cwd }) });
  expect(finished.code).not.toBe(0);
  expect(finished.stderr).toMatch(/^error\[[a-z_.]+\]: .+$/m);
  expect(finished.stderr.match(/^error\[/gm)).toHaveLength(1);
  expect(finished.stderr).not.toMatch(/^\s+at /m);
  expect(finished.stdout).toBe('');
  expect(processesWith('XDG_TEST_MARK', mark)).toEqual([]);
  return finished;
}

async function serving(yaml: string, servers: readonly ServerName[] = []): Promise<Finished> {
  await using folder = await tempFolder();
  await installServers(folder.path, servers);
  await writeFile(join(folder.path, 'group.yaml'), yaml);
  return await failing(['vmcp', 'serve', '-f', 'group.yaml', '--port', '0'], folder.path);
}

describe('resources', () => {
  it('a broken YAML is reported with file, line and column', async () => {
    const { code, stderr } = await serving('kind: [MCPServer\nspec: {');
    expect(code).toBe(2);
    expect(stderr).toMatch(/group\.yaml:2:\d+: /);
  });

  it('an unknown kind gets a suggestion', async () => {
    const { code, stderr } = await serving(groupYaml([]).replace('MCPGroup', 'MCPGruop'));
    expect(code).toBe(2);
    expect(stderr).toContain('MCPGroup');
  });

  it('an unknown field gets a suggestion and its place', async () => {
    const { stderr } = await serving(groupYaml(['good']).replace('image:', 'imgae:'), ['good']);
    expect(stderr).toMatch(/group\.yaml:\d+:3: MCPServer\/good: spec\.imgae: .*image/);
  });

  it('a reference to nothing is refused with a suggestion', async () => {
    const { code, stderr } = await serving(
      groupYaml(['good']).replace('groupRef: {name: test}', 'groupRef: {name: tset}'),
      ['good'],
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(/spec\.groupRef\.name: .*did you mean `test`/);
  });

  it('all problems are reported at once', async () => {
    const yaml = `${groupYaml(['good'])}---\n${serverYaml('other').replace('image:', 'imgae:')}---\nkind: Nonsense\n`;
    const { stderr } = await serving(yaml, ['good']);
    expect(stderr).toMatch(/[3-9] problems/);
  });

  it('a folder that is not there, is empty, or has no virtual server', async () => {
    expect((await failing(['vmcp', 'serve', '-f', 'no/such/folder'])).code).toBe(2);
    await using folder = await tempFolder();
    expect((await failing(['vmcp', 'serve', '-f', folder.path])).code).toBe(2);
    expect((await serving(serverYaml('good').replace(/ {2}groupRef.*\n/, ''), ['good'])).stderr).toContain(
      'VirtualMCPServer',
    );
  });

  it('a credential that a server cannot be shown is refused, not left out', async () => {
    const secured = serverYaml('good', { extra: '  proxyPort: 1\n  externalAuthConfigRef: {name: login}\n' });
    const login = `apiVersion: sallyport.dev/v1alpha1
kind: MCPExternalAuthConfig
metadata: {name: login}
spec: {type: bearerToken, bearerToken: {tokenSecretRef: {name: api, key: token}}}
---
apiVersion: v1
kind: Secret
metadata: {name: api}
stringData: {token: hush}
`;
    const { code, stderr } = await serving([groupYaml([]), secured, login].join('---\n'), ['good']);
    expect(code).toBe(2);
    expect(stderr).toContain('[config.unsupported]');
    expect(stderr).toContain('no headers to carry a credential');
  });

  it('a missing secret says how to supply it', async () => {
    const { code, stderr } = await serving(`${groupYaml(['good'])}  secrets: [{name: api, key: token}]\n`, ['good']);
    expect(code).toBe(2);
    expect(stderr).toContain('SALLYPORT_SECRET_API_TOKEN');
  });
});

describe('listening', () => {
  it('a port in use is named, with a way out', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const { port } = blocker.address() as { port: number };
    const { code, stderr } = await failing([
      'vmcp',
      'serve',
      '-f',
      'examples/quickstart-anonymous',
      '--port',
      String(port),
    ]);
    blocker.close();
    expect(code).toBe(5);
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stderr).toContain('--port');
  });

  it.each(['0.0.0.0', '::'])('an anonymous endpoint does not open to the network on %s', async (host) => {
    const { code, stderr } = await failing([
      'vmcp',
      'serve',
      '-f',
      'examples/quickstart-anonymous',
      '--port',
      '0',
      '--host',
      host,
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('--insecure-allow-anonymous');
  });

  it('unless somebody insists', async () => {
    await using running = await startSally([
      ...['vmcp', 'serve', '-f', 'examples/quickstart-anonymous', '--port', '0'],
      ...['--host', '0.0.0.0', '--insecure-allow-anonymous'],
    ]);
    expect(running.endpoints[0]?.url).toMatch(/^http:\/\/0\.0\.0\.0:/);
  });

  it('an address of another machine is refused', async () => {
    const { code } = await failing([
      'run',
      '-f',
      'npx://@modelcontextprotocol/server-memory',
      '--host',
      '192.0.2.1',
      '--insecure-allow-anonymous',
    ]);
    expect(code).toBe(5);
  });
});

describe('servers that fail', () => {
  async function running(server: ServerName): Promise<Finished> {
    await using folder = await tempFolder();
    await installServers(folder.path, [server]);
    return await failing(['run', '-f', `npx://${server}`], folder.path);
  }

  it('a server that exits at once ends the run, with its last words', async () => {
    const { code, stderr } = await running('exits');
    expect(code).toBe(5);
    expect(stderr).toMatch(/^error\[workload\.exited\]: exits ended with exit code 3/m);
    expect(stderr).toContain('the licence file is missing');
  });

  it('a server that prints garbage on stdout is recognised', async () => {
    const { code, stderr } = await running('chatters');
    expect(code).toBe(5);
    expect(stderr).toContain('[workload.not_mcp]');
    expect(stderr).toContain('Listening on port 3000!');
  });

  it('a banner on stdout is forgiven', async () => {
    await using folder = await tempFolder();
    await installServers(folder.path, ['greets']);
    await using good = await startSally(['run', '-f', 'npx://greets'], { cwd: folder.path });
    expect(good.endpoints[0]?.backends[0]).toMatchObject({ state: 'ready' });
  });

  it('a missing program is named, with how to get it', async () => {
    await using folder = await tempFolder();
    const finished = await sally(['run', '-f', 'uvx://mcp-server-time'], {
      cwd: folder.path,
      env: { PATH: folder.path },
    });
    expect(finished.code).toBe(5);
    expect(finished.stderr).toContain('error[workload.program_missing]: uvx is not on the PATH');
    expect(finished.stderr).toContain('what to do: install uv');
  });

  it('in a group the others go on, and the broken one is shown with its reason', async () => {
    await using folder = await tempFolder();
    await installServers(folder.path, ['good', 'exits', 'chatters']);
    await writeFile(join(folder.path, 'group.yaml'), groupYaml(['good', 'exits', 'chatters']));
    await using gateway = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
    expect(gateway.endpoints[0]?.backends).toMatchObject([
      { name: 'chatters', state: 'down', error: expect.stringContaining('not MCP') },
      { name: 'exits', state: 'down', error: expect.stringContaining('licence file') },
      { name: 'good', state: 'ready', tools: 3 },
    ]);
    await using session = await connectClient(gateway.endpoints[0]?.url ?? '');
    expect((await session.client.listTools()).tools).toHaveLength(3);
  });

  it('a remote server that is not there, refuses us, or is not MCP', async () => {
    const gone = await failing(['run', '-f', 'http://127.0.0.1:9/mcp']);
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('[fetch.unreachable]') });
    await using closed = await startHttpMcpServer({ refuse: 401 });
    expect(await failing(['run', '-f', closed.url])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('[backend.refused]'),
    });
    await using other = await startHttpMcpServer({ refuse: 500 });
    expect(await failing(['run', '-f', other.url])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('[backend.protocol]'),
    });
  });

  it('a link-local address is never contacted', async () => {
    expect(await failing(['run', '-f', 'http://169.254.169.254/mcp'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('[fetch.address_refused]'),
    });
  });
});

describe('the command line', () => {
  it.each([
    [['vmcp', 'serve', '-f', 'x', '--prot', '1'], '--port'],
    [['vmcp', 'srve'], 'serve'],
    [['rnu'], 'run'],
    [['vmcp', 'serve', '-f', 'x', '--port', '70000'], '65535'],
    [['vmcp', 'serve'], '--file'],
    [['run'], 'sally run npx://'],
    [['run', '-f', 'npx://x', 'stray'], '--'],
    [['run', '-f', 'docker://x'], 'npx://'],
    [['run', '-f', 'npx://-rf'], 'npx://'],
    [['run', '-f', 'npx://x', '-e', 'NOVALUE'], 'KEY=VALUE'],
    [['run', '-f', 'npx://x', '--name', '../x'], 'name'],
    [['schema', 'MCPSever'], 'MCPServer'],
  ])('sally %j is refused with a way out', async (args, way) => {
    const { code, stderr } = await failing(args);
    expect(code).toBe(2);
    expect(stderr).toContain(way);
  });
});
