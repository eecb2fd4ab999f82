import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sallyAtTerminal } from '../support/asked.ts';
import { installServers } from '../support/mcp-servers.ts';
import { connectClient, sally, startSally, tempFolder } from '../support/sally.ts';

const NPM = { registryType: 'npm', identifier: 'good', version: '1.0.0', transport: { type: 'stdio' } };
const SERVERS = [
  {
    name: 'dev.acme/notes',
    description: 'Keeps notes \u001b[31m',
    version: '1',
    packages: [
      {
        ...NPM,
        environmentVariables: [
          { name: 'NOTES_KEY', description: 'key of the notes', isRequired: true, isSecret: true },
          { name: 'NOTES_REGION', isRequired: true },
          { name: 'NOTES_LEVEL', default: 'info' },
        ],
      },
    ],
  },
  { name: 'dev.acme/good', description: 'Plain', version: '1', packages: [NPM] },
  { name: 'dev.acme/tasks', description: 'One', version: '1' },
  { name: 'dev.other/tasks', description: 'Other', version: '1' },
  { name: '../../\u001b]0;evil\u0007', description: 'Hostile', version: '1' },
];

/** A home whose registry is a file, in a folder in which the package `good` is installed. */
async function withFile() {
  const folder = await tempFolder();
  const file = join(folder.path, 'servers.json');
  await writeFile(file, JSON.stringify({ servers: SERVERS }));
  await installServers(folder.path, ['good']);
  const options = {
    cwd: folder.path,
    env: { SALLYPORT_HOME: join(folder.path, 'home') },
  };
  return { ...folder, file, options };
}

async function withRegistry() {
  const home = await withFile();
  expect(await sally(['config', 'set-registry', 'servers.json'], home.options)).toMatchObject({ code: 0 });
  return home;
}

it('search and registry list know the built-in catalogue', async () => {
  await using home = await tempFolder();
  const env = { SALLYPORT_HOME: home.path };
  expect((await sally(['search', 'markdown'], { env })).stdout).toMatch(/^NAME .*\nfetch /);
  expect((await sally(['search', 'nothing-like-this'], { env })).stdout).toContain('sally registry list');
  const listed = JSON.parse((await sally(['registry', 'list', '--format', 'json'], { env })).stdout);
  expect(listed.length).toBeGreaterThanOrEqual(25);
  const info = await sally(['registry', 'info', 'filesystem'], { env });
  expect(info.stdout).toContain('Run it with: sally run filesystem -- FOLDER');
  expect(await sally(['registry', 'info', 'filesytem'], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean filesystem?'),
  });
  expect((await sally(['config', 'get-registry'], { env })).stdout).toBe('the built-in catalogue\n');
});

it('a file becomes the registry, what is wrong in it is named, and nothing in it moves the cursor', async () => {
  await using home = await withFile();
  const set = await sally(['config', 'set-registry', 'servers.json'], home.options);
  expect(set).toMatchObject({
    code: 0,
    stdout: `Servers are looked up in the registry file ${home.file}, which has 4.\n`,
  });
  expect(set.stderr).toContain('1 entry is wrong and left out');
  const outputs = [
    set,
    await sally(['registry', 'list'], home.options),
    await sally(['registry', 'info', 'notes'], home.options),
  ];
  for (const { stdout, stderr } of outputs) expect(`${stdout}${stderr}`).not.toMatch(/[^\x20-\x7e\n\u2026]/);
  expect(outputs[2]?.stdout).toContain('Variable NOTES_KEY (required, secret): key of the notes');
  expect(JSON.parse((await sally(['config', 'get-registry', '--format', 'json'], home.options)).stdout)).toEqual({
    kind: 'file',
    path: home.file,
  });
  expect(await sally(['registry', 'info', 'tasks'], home.options)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('dev.acme/tasks, dev.other/tasks'),
  });
  expect(await sally(['config', 'unset-registry'], home.options)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect((await sally(['config', 'get-registry'], home.options)).stdout).toBe('the built-in catalogue\n');
});

it('a registry that cannot be read is not chosen', async () => {
  await using home = await withFile();
  for (const where of [
    'gone.json',
    'http://127.0.0.1:9/r.json',
    'https://127.0.0.1:9/r.json',
    'ftp://acme.dev/r.json',
    'https://me:pw@acme.dev',
  ]) {
    const { code, stderr } = await sally(['config', 'set-registry', where], home.options);
    expect(code).not.toBe(0);
    expect(stderr).not.toContain('pw@');
  }
  expect((await sally(['config', 'get-registry'], home.options)).stdout).toBe('the built-in catalogue\n');
});

it('a registry of the own network is asked when that is allowed, by its API or as a document, and its copy helps while it is away', async () => {
  await using home = await withFile();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    if (pathname === '/api/v0.1/servers')
      return response.end(JSON.stringify({ servers: SERVERS.map((one) => ({ server: one })), metadata: {} }));
    if (pathname === '/doc') return response.end(JSON.stringify({ data: { servers: SERVERS } }));
    return response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect(await sally(['config', 'set-registry', `${base}/api`], home.options)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--allow-private-ip'),
    });
    for (const [path, kind] of [
      ['api', 'api'],
      ['doc', 'json'],
    ]) {
      const set = await sally(['config', 'set-registry', '-p', `${base}/${path}`, '--format', 'json'], home.options);
      expect(JSON.parse(set.stdout)).toMatchObject({ kind, url: `${base}/${path}`, allowPrivateIp: true });
      expect((await sally(['registry', 'info', 'good'], home.options)).stdout).toContain('npx://good@1.0.0');
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
  const stale = await sally(['registry', 'info', 'good', '--refresh'], home.options);
  expect(stale).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^note: .* does not answer; a copy of .* is used\n$/),
  });
});

it('run takes a name of the registry, and does not make an image of it when the registry fails', async () => {
  await using home = await withRegistry();
  await using running = await startSally(['run', '-f', 'good'], home.options);
  await using session = await connectClient(running.endpoints[0]?.url ?? '');
  expect((await session.client.listTools()).tools.map(({ name }) => name)).toContain('env');
  await writeFile(home.file, 'broken');
  expect(await sally(['run', '-f', 'good'], home.options)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('registry.invalid'),
  });
  await writeFile(home.file, JSON.stringify({ servers: SERVERS }));
  expect(await sally(['run', '-f', 'tasks'], home.options)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('registry.ambiguous'),
  });
  expect(await sally(['run', '-f', 'godo'], home.options)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean good?'),
  });
});

it('run names every variable that a server needs where nobody can be asked', async () => {
  await using home = await withRegistry();
  const { code, stderr } = await sally(['run', '-f', 'notes', '-e', 'OTHER=1'], home.options);
  expect(code).toBe(2);
  expect(stderr).toMatch(/registry\.variable_missing.*NOTES_KEY: key of the notes\n.*NOTES_REGION/s);
});

it('run asks for them at a terminal, keeps the secret for this workload, and needs no answer the next time', async () => {
  await using home = await withRegistry();
  await sally(['secret', 'setup', '--key', 'file'], home.options);
  const asked = await sallyAtTerminal(
    ['run', '-f', 'notes', '--name', 'mine'],
    [
      ['NOTES_KEY (key of the notes): ', 'typed-secret\r'],
      ['NOTES_REGION: ', 'eu west\r'],
      ['Ctrl-C stops everything.', '\u0003'],
    ],
    home.options,
  );
  expect(asked.stdout).not.toContain('typed-secret');
  expect(asked.code).toBe(0);
  await using running = await startSally(
    ['run', '-f', 'notes', '--name', 'mine', '-e', 'NOTES_REGION=us'],
    home.options,
  );
  await using session = await connectClient(running.endpoints[0]?.url ?? '');
  const { content } = (await session.client.callTool({ name: 'env' })) as { content: { text: string }[] };
  expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({
    NOTES_KEY: 'typed-secret',
    NOTES_REGION: 'us',
    NOTES_LEVEL: 'info',
  });
});
