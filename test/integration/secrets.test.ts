import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { sallyAtTerminal, sallyFed } from '../support/asked.ts';
import { installServers } from '../support/mcp-servers.ts';
import { connectClient, sally, startSally, tempFolder } from '../support/sally.ts';

const VALUE = 'correct-horse-battery';

/** A home of its own, on a machine without keyring. */
async function freshHome() {
  const folder = await tempFolder();
  return { ...folder, env: { SALLYPORT_HOME: folder.path, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus' } };
}

/** The content of every file below a folder. */
async function everything(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
  return (await Promise.all(texts)).join('\n');
}

it('works without keyring and terminal: set, list, get and delete', async () => {
  await using home = await freshHome();
  const { env } = home;
  const setup = await sally(['secret', 'setup', '--format', 'json'], { env });
  expect(JSON.parse(setup.stdout)).toMatchObject({ provider: 'encrypted', key: 'file', canWrite: true });
  expect(await sallyFed(['secret', 'set', 'notes-key'], `${VALUE}\n`, { env })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect((await sally(['secret', 'list'], { env })).stdout).toBe('notes-key\n');
  expect(JSON.parse((await sally(['secret', 'list', '--format', 'json'], { env })).stdout)).toEqual([
    { name: 'notes-key' },
  ]);
  expect((await sally(['secret', 'get', 'notes-key'], { env })).stdout).toBe(`${VALUE}\n`);
  expect(await everything(home.path)).not.toContain(VALUE);
  expect(await sally(['secret', 'delete', 'notes-key'], { env })).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await sally(['secret', 'get', 'notes-key'], { env })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('secret.missing'),
  });
  expect((await sally(['secret', 'list'], { env })).stdout).toContain('Add one with: sally secret set NAME');
});

it('says what to do before it was set up, where it can neither ask nor use a keyring', async () => {
  await using home = await freshHome();
  const { code, stderr } = await sallyFed(['secret', 'set', 'notes-key'], VALUE, home);
  expect(code).toBe(4);
  expect(stderr).toContain('sally secret setup --key file');
  expect(stderr).not.toContain(VALUE);
});

it('takes no value from the command line, and does not repeat it', async () => {
  await using home = await freshHome();
  const { code, stderr } = await sally(['secret', 'set', 'notes-key', VALUE], home);
  expect(code).toBe(2);
  expect(stderr).toContain('never given on the command line');
  expect(stderr).not.toContain(VALUE);
});

it.each([
  ['set', '__sally_workload_notes/KEY'],
  ['get', '__sally_workload_notes/KEY'],
  ['delete', '__SALLY_auth_x'],
  ['set', '../../escape'],
  ['set', ''],
])('secret %s refuses the name %j', async (command, name) => {
  await using home = await freshHome();
  const { code, stderr } = await sallyFed(['secret', command, name], VALUE, home);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('cannot name a secret') });
});

it('asks at a terminal without showing what is typed', async () => {
  await using home = await freshHome();
  const { env } = home;
  const set = await sallyAtTerminal(
    ['secret', 'set', 'notes-key'],
    [
      ['Value of notes-key: ', `${VALUE}\r`],
      ['New password for the secrets: ', 'my password\r'],
      ['The same once more: ', 'my password\r'],
    ],
    { env },
  );
  expect(set).toMatchObject({ code: 0, stderr: '' });
  expect(set.stdout).not.toContain(VALUE);
  expect(set.stdout).not.toContain('my password');
  const right = await sallyAtTerminal(
    ['secret', 'get', 'notes-key'],
    [['Password of the secrets: ', 'my password\r']],
    { env },
  );
  expect(right.stdout).toContain(VALUE);
  const wrong = await sallyAtTerminal(
    ['secret', 'get', 'notes-key'],
    [['Password of the secrets: ', 'another one\r']],
    { env },
  );
  expect(wrong).toMatchObject({
    code: 4,
    stdout: expect.stringContaining('the password from the terminal does not open'),
  });
  const ended = await sallyAtTerminal(['secret', 'get', 'notes-key'], [['Password of the secrets: ', '\u0003']], {
    env,
  });
  expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining('usage.cancelled') });
});

it('chooses a provider at a terminal, and elsewhere by its name', async () => {
  await using home = await freshHome();
  const { env } = home;
  const chosen = await sallyAtTerminal(['secret', 'setup'], [['[encrypted]: ', 'environment\r']], { env });
  expect(chosen).toMatchObject({ code: 0, stdout: expect.stringContaining('variables of the environment') });
  expect((await sally(['secret', 'provider'], { env })).stdout).toContain('environment: ');
  expect(
    (await sally(['secret', 'get', 'notes-key'], { env: { ...env, SALLYPORT_SECRET_NOTES_KEY: VALUE } })).stdout,
  ).toBe(`${VALUE}\n`);
  expect(await sallyFed(['secret', 'set', 'x'], VALUE, { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('secret.read_only'),
  });
  expect(await sally(['secret', 'provider', 'keyring'], { env })).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('secret.unavailable'),
  });
  expect((await sally(['secret', 'provider'], { env })).stdout).toContain('environment: ');
});

it('loses nothing when many commands store at once', async () => {
  await using home = await freshHome();
  const { env } = home;
  await sally(['secret', 'setup'], { env });
  const names = Array.from({ length: 6 }, (_, index) => `s${index}`);
  const done = await Promise.all(names.map((name) => sallyFed(['secret', 'set', name], VALUE, { env })));
  expect(done.map(({ code, stderr }) => ({ code, stderr }))).toEqual(names.map(() => ({ code: 0, stderr: '' })));
  expect((await sally(['secret', 'list'], { env })).stdout).toBe(names.map((name) => `${name}\n`).join(''));
});

it('reads from 1Password through op', async () => {
  await using home = await freshHome();
  await writeFile(
    join(home.path, 'op'),
    `#!/bin/sh\nif [ "$1" = item ]; then echo '[{"title":"Notes","vault":{"name":"Team"}}]'; else printf '%s' '${VALUE}'; fi\n`,
  );
  await chmod(join(home.path, 'op'), 0o755);
  const env = { ...home.env, PATH: `${home.path}${delimiter}${process.env.PATH}` };
  expect(await sally(['secret', 'provider', '1password'], { env })).toMatchObject({ code: 0 });
  expect((await sally(['secret', 'list'], { env })).stdout).toBe('op://Team/Notes\n');
  expect((await sally(['secret', 'get', 'op://Team/Notes/key'], { env })).stdout).toBe(`${VALUE}\n`);
});

it('hands a secret to the server that asks for it, and writes it nowhere', async () => {
  await using home = await freshHome();
  await using folder = await tempFolder();
  const { env } = home;
  await installServers(folder.path, ['good']);
  await sally(['secret', 'setup'], { env });
  await sallyFed(['secret', 'set', 'notes-key'], VALUE, { env });
  await using running = await startSally(['run', '-f', 'npx://good', '--secret', 'notes-key,target=NOTES_KEY'], {
    cwd: folder.path,
    env,
  });
  await using session = await connectClient(running.endpoints[0]?.url ?? '');
  const { content } = (await session.client.callTool({ name: 'env' })) as { content: { text: string }[] };
  expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ NOTES_KEY: VALUE });
  expect(await everything(home.path)).not.toContain(VALUE);
  expect(running.stderr()).not.toContain(VALUE);
});

it('names every secret that a run misses', async () => {
  await using home = await freshHome();
  const { code, stderr } = await sally(
    [
      'run',
      '-f',
      'npx://@modelcontextprotocol/server-everything@2026.8.31',
      '--secret',
      'a-key,target=A',
      '--secret',
      'b-key,target=B',
    ],
    home,
  );
  expect(code).toBe(2);
  expect(stderr).toContain('no value is stored for a-key, b-key');
});
