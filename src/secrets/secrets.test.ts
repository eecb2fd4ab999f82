import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

const REF = { name: 'github', key: 'client-secret' };

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
  expect(createSecretSource({ env: {}, folder }).read({ name: 'github', key: 'other' })).toBeUndefined();
  expect(createSecretSource({ env: {} }).read(REF)).toBeUndefined();
});

it.each([
  { name: '..', key: 'outside' },
  { name: 'github', key: '../outside' },
  { name: 'github/..', key: 'outside' },
])('does not leave its folder for $name/$key', (ref) => {
  expect(createSecretSource({ env: {}, folder }).read(ref)).toBeUndefined();
});

it('says how to supply a missing value, and never shows one', () => {
  const source = createSecretSource({ env: { SALLYPORT_SECRET_GITHUB_CLIENT_SECRET: 'hunter2' }, folder });
  expect(source.describe(REF)).toContain('SALLYPORT_SECRET_GITHUB_CLIENT_SECRET');
  expect(`${source.read(REF)} ${JSON.stringify(source.read(REF))}`).toBe('[secret] "[secret]"');
});
