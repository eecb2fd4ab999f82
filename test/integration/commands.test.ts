import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { groupYaml, installServers, serverYaml } from '../support/mcp-servers.ts';
import { ROOT, sally, startSally, tempFolder } from '../support/sally.ts';

it('--version prints the version of the package', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect(await sally(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

it('--help works on every level and goes to stdout', async () => {
  for (const args of [['--help'], ['vmcp', '--help'], ['vmcp', 'serve', '--help'], ['run', '-h']]) {
    const { code, stdout, stderr } = await sally(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: sally/);
  }
});

it('validate accepts the quickstart, under both names', async () => {
  for (const command of [['validate'], ['vmcp', 'validate']]) {
    const { code, stdout } = await sally([...command, '-f', 'examples/quickstart']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'examples/quickstart: 5 resources, no problems\n' });
  }
});

it('validate --format json gives machines every problem with its place', async () => {
  await using folder = await tempFolder();
  await writeFile(join(folder.path, 'a.yaml'), serverYaml('a').replace('image:', 'imgae:'));
  const { code, stdout } = await sally(['validate', '-f', folder.path, '--format', 'json']);
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    valid: false,
    problems: expect.arrayContaining([
      expect.objectContaining({
        file: expect.stringContaining('a.yaml'),
        line: 6,
        column: 3,
        path: 'spec.imgae',
        resource: 'MCPServer/a',
      }),
    ]),
  });
});

it('schema prints what editors need', async () => {
  const { stdout } = await sally(['schema', 'mcpserver']);
  expect(JSON.parse(stdout)).toMatchObject({ title: 'MCPServer', additionalProperties: false });
  expect(JSON.stringify(JSON.parse((await sally(['schema'])).stdout))).toContain('VirtualMCPServer');
});

it('crds prints definitions that kubectl can apply', async () => {
  const { stdout } = await sally(['crds']);
  const documents = parseAllDocuments(stdout).map(
    (document) => document.toJS() as { kind: string; metadata: { name: string } },
  );
  expect(documents.map(({ kind }) => kind)).toEqual(Array(documents.length).fill('CustomResourceDefinition'));
  expect(documents.map(({ metadata }) => metadata.name)).toContain('virtualmcpservers.sallyport.dev');
});

it('init writes a folder that validates and serves, and never overwrites one', async () => {
  await using folder = await tempFolder();
  const target = join(folder.path, 'mine');
  const { code, stdout } = await sally(['vmcp', 'init', target]);
  expect(code).toBe(0);
  expect(stdout).toContain(`sally vmcp serve -f ${target}`);
  expect((await readdir(target)).sort()).toEqual(['.sallyport.schema.json', 'gateway.yaml', 'servers.yaml']);
  expect(await readFile(join(target, 'gateway.yaml'), 'utf8')).toMatch(
    /^# yaml-language-server: \$schema=\.\/\.sallyport\.schema\.json/,
  );
  expect((await sally(['validate', '-f', target])).code).toBe(0);

  await writeFile(join(target, 'gateway.yaml'), 'mine');
  expect((await sally(['vmcp', 'init', target])).code).toBe(2);
  expect(await readFile(join(target, 'gateway.yaml'), 'utf8')).toBe('mine');
});

it('serve prints where to connect and a line for each client', async () => {
  const child = execFile(
    process.execPath,
    ['bin/sally.js', 'vmcp', 'serve', '-f', 'examples/quickstart-anonymous', '--port', '0'],
    { cwd: ROOT },
  );
  let text = '';
  for await (const chunk of child.stdout as AsyncIterable<string>) {
    text += chunk;
    if (text.includes('Ctrl-C')) break;
  }
  child.kill('SIGINT');
  expect(text).toMatch(/quickstart is served at http:\/\/127\.0\.0\.1:\d+\/mcp/);
  expect(text).toMatch(/everything +ready +17/);
  expect(text).toMatch(/claude mcp add --transport http quickstart http:\/\/127/);
});

it('an older Node says in one line what it needs', async () => {
  await using folder = await tempFolder();
  // The launcher reads the version from process.versions; a preload stands in for a Node we do not have here.
  await writeFile(
    join(folder.path, 'old.cjs'),
    "Object.defineProperty(process.versions, 'node', { value: '20.1.0' });",
  );
  const run = promisify(execFile)(
    process.execPath,
    ['--require', join(folder.path, 'old.cjs'), 'bin/sally.js', '--version'],
    { cwd: ROOT },
  );
  await expect(run).rejects.toMatchObject({
    code: 5,
    stdout: '',
    stderr: expect.stringMatching(/^sally needs Node\.js 24 or newer, this is 20\.1\.0.*\n$/),
  });
});

it('status shows what runs to its owner, and nothing is left when it ends', async () => {
  await using home = await tempFolder();
  await using folder = await tempFolder();
  await installServers(folder.path, ['good', 'exits']);
  await writeFile(join(folder.path, 'group.yaml'), groupYaml(['good', 'exits']));
  const env = { SALLYPORT_HOME: home.path };
  expect((await sally(['vmcp', 'status'], { env })).stdout).toContain('Nothing runs');
  {
    await using running = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0'], { env });
    const { stdout } = await sally(['vmcp', 'status'], { env });
    expect(stdout).toMatch(/test +http:\/\/127\.0\.0\.1:\d+\/mcp +good +ready +2025-11-25 +3/);
    expect(stdout).toMatch(/exits +down .*licence file/);
    const [status] = JSON.parse((await sally(['vmcp', 'status', '--format', 'json'], { env })).stdout);
    expect(status).toMatchObject({ pid: running.process.pid, endpoints: [{ name: 'test' }] });
    const { mode } = await stat(join(home.path, 'state/vmcp'));
    expect(mode & 0o077).toBe(0);
  }
  expect(await readdir(join(home.path, 'state/vmcp'))).toEqual([]);
});
