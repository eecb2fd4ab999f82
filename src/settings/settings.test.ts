import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { changeSettings, readSettings, settingsFile } from './index.ts';

let home: string;
let env: { readonly SALLYPORT_HOME: string };
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sally-settings-'));
  env = { SALLYPORT_HOME: home };
});
afterEach(() => rm(home, { recursive: true }));

async function write(text: string): Promise<void> {
  await mkdir(dirname(settingsFile(env)), { recursive: true });
  await writeFile(settingsFile(env), text);
}

it('is empty until somebody chooses, and reading makes no file', async () => {
  expect(await readSettings(env)).toEqual({});
  await expect(stat(settingsFile(env))).rejects.toThrow('ENOENT');
});

it('keeps what was chosen, for its owner only', async () => {
  await changeSettings(env, { secrets: { provider: 'encrypted', key: 'file' } });
  await changeSettings(env, { registry: { kind: 'json', url: 'https://acme.dev/r.json', allowPrivateIp: true } });
  expect(await readSettings(env)).toEqual({
    secrets: { provider: 'encrypted', key: 'file' },
    registry: { kind: 'json', url: 'https://acme.dev/r.json', allowPrivateIp: true },
  });
  expect((await stat(settingsFile(env))).mode & 0o777).toBe(0o600);
  await changeSettings(env, { registry: undefined });
  expect(await readSettings(env)).toEqual({ secrets: { provider: 'encrypted', key: 'file' } });
});

it('leaves keys and comments alone that it does not know', async () => {
  await write('# mine\nversion: 1\nfuture:\n  thing: [1, 2] # stays\n');
  await changeSettings(env, { secrets: { provider: 'environment' } });
  const text = await readFile(settingsFile(env), 'utf8');
  expect(text).toContain('# mine');
  expect(text).toMatch(/thing: \[ ?1, 2 ?\] # stays/);
  expect(await readSettings(env)).toEqual({ secrets: { provider: 'environment' } });
});

it('loses no change when many commands write at once', async () => {
  const changes = Array.from({ length: 10 }, (_, at) =>
    changeSettings(
      env,
      at % 2 ? { secrets: { provider: 'keyring' } } : { registry: { kind: 'file', path: `/r${at}` } },
    ),
  );
  await Promise.all(changes);
  expect(await readSettings(env)).toMatchObject({ secrets: { provider: 'keyring' }, registry: { kind: 'file' } });
});

it.each([
  ['version: 2', 'config.unsupported', 'is of version 2'],
  ['a: [', 'config.invalid', 'config.yaml: '],
  ['- a list', 'config.invalid', 'must be a mapping'],
  ['secrets: {provider: encrpted}', 'config.invalid', 'did you mean encrypted?'],
  ['secrets: {provider: encrypted, key: moon}', 'config.invalid', 'secrets.key must be one of'],
  ['registry: {kind: file, path: relative}', 'config.invalid', 'registry.path must be an absolute path'],
  ['registry: {kind: api, url: 7}', 'config.invalid', 'registry.url must be a URL'],
  ['registry: {kind: api, url: "https://x", allowPrivateIp: sure}', 'config.invalid', 'registry.allowPrivateIp'],
])('refuses %s and leaves the file as it is', async (text, code, message) => {
  await write(text);
  await expect(readSettings(env)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  await expect(changeSettings(env, { registry: { kind: 'nothing' } })).rejects.toThrow();
  expect(await readFile(settingsFile(env), 'utf8')).toBe(text);
});
