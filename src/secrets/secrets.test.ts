import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSecretSource, variableFor } from './secrets.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sally-secrets-'));
  mkdirSync(join(folder, 'github'));
  writeFileSync(join(folder, 'github', 'client-secret'), 'from the file\n');
  writeFileSync(join(folder, 'outside'), 'not a secret of ours');
});
afterEach(() => rmSync(folder, { recursive: true }));

const REF = { namespace: 'default', name: 'github', key: 'client-secret' };

it('names the variable after secret and key', () => {
  expect(variableFor(REF)).toBe('SALLYPORT_SECRET_GITHUB_CLIENT_SECRET');
});

it('reads a file and drops the newline at its end', () => {
  expect(createSecretSource({ env: {}, folder }).read(REF)?.reveal()).toBe('from the file');
});

it('lets the environment win over the file', () => {
  const source = createSecretSource({ env: { SALLYPORT_SECRET_GITHUB_CLIENT_SECRET: 'from env' }, folder });
  expect(source.read(REF)?.reveal()).toBe('from env');
});

it('finds nothing where nothing is', () => {
  expect(createSecretSource({ env: {}, folder }).read({ ...REF, key: 'other' })).toBeUndefined();
  expect(createSecretSource({ env: {} }).read(REF)).toBeUndefined();
});

it.each([
  { name: '..', key: 'outside' },
  { name: 'github', key: '../outside' },
  { name: 'github/..', key: 'outside' },
  { name: 'github', key: '..data' },
])('does not leave its folder for $name/$key', (ref) => {
  mkdirSync(join(folder, 'github', '..data'));
  const source = createSecretSource({ env: {}, folder });
  expect(source.read({ namespace: 'default', ...ref })).toBeUndefined();
  expect(source.read({ ...ref, namespace: '..' })).toBeUndefined();
});

it('says how to supply a missing value, and never shows one', () => {
  const source = createSecretSource({ env: { SALLYPORT_SECRET_GITHUB_CLIENT_SECRET: 'hunter2' }, folder });
  expect(source.describe(REF)).toContain('SALLYPORT_SECRET_GITHUB_CLIENT_SECRET');
  expect(`${source.read(REF)} ${JSON.stringify(source.read(REF))}`).toBe('[secret] "[secret]"');
});

it('keeps the namespaces apart, in the environment and in the folder', () => {
  mkdirSync(join(folder, 'team', 'github'), { recursive: true });
  writeFileSync(join(folder, 'team', 'github', 'client-secret'), 'of the team');
  const source = createSecretSource({ env: { SALLYPORT_SECRET_TEAM__A_B: 'env of the team' }, folder });
  const read = (namespace: string, name: string, key: string): string | undefined =>
    source.read({ namespace, name, key })?.reveal();
  expect(read('team', 'github', 'client-secret')).toBe('of the team');
  expect(read('default', 'github', 'client-secret')).toBe('from the file');
  expect(read('other', 'github', 'client-secret')).toBeUndefined();
  expect(read('team', 'a', 'b')).toBe('env of the team');
  for (const namespace of ['default', 'other']) expect(read(namespace, 'a', 'b')).toBeUndefined();
  expect(source.describe({ ...REF, namespace: 'team' })).toBe(
    `set SALLYPORT_SECRET_TEAM__GITHUB_CLIENT_SECRET or write ${join(folder, 'team', 'github', 'client-secret')}`,
  );
});

it('reads no variable for two namespaces', () => {
  const label = fc.stringMatching(/^[ab]([-ab]{0,4}[ab])?$/);
  const ref = fc.record({
    namespace: fc.oneof(fc.constant('default'), label),
    name: label,
    key: fc.stringMatching(/^[-._ab]{1,5}$/),
  });
  fc.assert(
    fc.property(ref, ref, (one, other) => one.namespace === other.namespace || variableFor(one) !== variableFor(other)),
    { numRuns: 5_000 },
  );
  expect(variableFor({ namespace: 'default', name: 'a--b', key: '_c' })).toBe('SALLYPORT_SECRET_A_B_C');
});

it.each<[what: string, make: (file: string) => void, message: string]>([
  ['a pipe', (file) => execFileSync('mkfifo', [file]), 'is not a regular file'],
  ['a device', (file) => symlinkSync('/dev/zero', file), 'is not a regular file'],
  ['a folder', (file) => mkdirSync(file), 'is not a regular file'],
  ['a large file', (file) => writeFileSync(file, Buffer.alloc(1024 * 1024 + 1, 'x')), 'is larger than 1 MiB'],
  ['noise', (file) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0x80])), 'is not text in UTF-8'],
  ['a link to itself', (file) => symlinkSync(file, file), 'cannot be read'],
])('refuses %s with its name and a hint, without waiting', { timeout: 2_000 }, (_, make, message) => {
  const file = join(folder, 'github', 'odd');
  make(file);
  expect(() => createSecretSource({ env: {}, folder }).read({ ...REF, key: 'odd' })).toThrow(
    expect.objectContaining({
      code: 'config.unreadable',
      message: `the secret file ${file} ${message}`,
      hint: expect.any(String),
    }),
  );
});

it('follows links to files, as Kubernetes mounts them, and reads a value of the full size', () => {
  const value = 'x'.repeat(1024 * 1024);
  mkdirSync(join(folder, 'github', '..1'));
  writeFileSync(join(folder, 'github', '..1', 'token'), value);
  symlinkSync('..1', join(folder, 'github', '..data'));
  symlinkSync('..data/token', join(folder, 'github', 'token'));
  expect(
    createSecretSource({ env: {}, folder })
      .read({ ...REF, key: 'token' })
      ?.reveal(),
  ).toBe(value);
});
