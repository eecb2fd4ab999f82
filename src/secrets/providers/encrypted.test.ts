import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../base/index.ts';
import { encryptedProvider } from './encrypted.ts';
import type { PasswordSource } from './password.ts';
import type { SecretProvider } from './provider.ts';

const COST = { N: 1024, r: 8, p: 1 };
let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sally-encrypted-'));
  file = join(folder, 'data', 'secrets.enc');
});
afterEach(() => rm(folder, { recursive: true }));

function passwordIs(text: string): PasswordSource {
  const get = async () => ({ value: new Secret(text), from: 'the test' });
  return { read: get, create: get };
}

function open(password = 'correct horse'): SecretProvider {
  return encryptedProvider({ file, password: passwordIs(password), cost: COST });
}

async function header(): Promise<{ line: string; rest: Buffer }> {
  const bytes = await readFile(file);
  const end = bytes.indexOf(0x0a);
  return { line: bytes.subarray(0, end).toString(), rest: bytes.subarray(end) };
}

describe('the encrypted file', () => {
  it('keeps secrets for the next command, in order, and forgets them on demand', async () => {
    await open().set('b', new Secret('two'));
    await open().set('a', new Secret('one\nwith lines'));
    expect(await open().list()).toEqual(['a', 'b']);
    expect((await open().get('a'))?.reveal()).toBe('one\nwith lines');
    expect(await open().delete('a')).toBe(true);
    expect(await open().delete('a')).toBe(false);
    expect(await open().get('a')).toBeUndefined();
    expect(await open().list()).toEqual(['b']);
  });

  it('holds names that mean something to JavaScript', async () => {
    await open().set('__proto__', new Secret('p'));
    expect((await open().get('__proto__'))?.reveal()).toBe('p');
    expect(await open().get('constructor')).toBeUndefined();
  });

  it('asks for no password before there is anything to open', async () => {
    const refuse = async (): Promise<never> => {
      throw new Error('asked');
    };
    const provider = encryptedProvider({ file, password: { read: refuse, create: refuse } });
    expect(await provider.list()).toEqual([]);
    expect(await provider.get('a')).toBeUndefined();
    expect(await provider.delete('a')).toBe(false);
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });

  it('shows neither names nor values to who reads it, and nothing to other users', async () => {
    await open().set('notes-key', new Secret('hunter2hunter2'));
    const bytes = await readFile(file);
    for (const text of ['notes-key', 'hunter2', 'correct horse']) expect(bytes.includes(text)).toBe(false);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o700);
  });

  it('says in its first line how the key is made, with a salt of its own and a new nonce for each writing', async () => {
    await open().set('a', new Secret('1'));
    const first = await header();
    expect(JSON.parse(first.line)).toMatchObject({
      format: 'sallyport-secrets',
      version: 1,
      kdf: { name: 'scrypt', ...COST },
    });
    await open().set('a', new Secret('2'));
    await open().set('a', new Secret('1'));
    const again = await header();
    expect(again.line).toBe(first.line);
    expect(again.rest.subarray(0, 13)).not.toEqual(first.rest.subarray(0, 13));
  });

  it('is written with a third of a second of work against guessing when nobody says otherwise', async () => {
    await encryptedProvider({ file, password: passwordIs('correct horse') }).set('a', new Secret('1'));
    expect(JSON.parse((await header()).line).kdf).toMatchObject({ N: 131072, r: 8, p: 1 });
  });

  it('answers a wrong password with one clear error, for reading and for writing, and stays as it is', async () => {
    await open().set('a', new Secret('1'));
    const before = await readFile(file);
    const wrong = { code: 'secret.locked', message: `the password from the test does not open ${file}` };
    await expect(open('wrong').get('a')).rejects.toMatchObject(wrong);
    await expect(open('wrong').set('b', new Secret('2'))).rejects.toMatchObject(wrong);
    expect(await readFile(file)).toEqual(before);
  });

  it('takes a password for the same however its letters were composed', async () => {
    await open('gr\u00fc\u00dfe an alle').set('a', new Secret('1'));
    expect((await open('gru\u0308\u00dfe an alle').get('a'))?.reveal()).toBe('1');
  });

  it('loses nothing when many commands write at once, and leaves no draft behind', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, at) => open().set(`s${at}`, new Secret(`v${at}`))));
    expect(await open().list()).toHaveLength(12);
    expect((await readdir(join(folder, 'data'))).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(await readdir(join(folder, 'data'))).toContain('secrets.enc.lock'); // never deleted
  });

  it('does not write when nothing changed', async () => {
    await open().set('a', new Secret('1'));
    const before = await readFile(file);
    await open().set('a', new Secret('1'));
    expect(await readFile(file)).toEqual(before);
  });
});

describe('a file that somebody changed', () => {
  const change = async (work: (bytes: Buffer) => Buffer): Promise<void> => {
    await open().set('a', new Secret('1'));
    await writeFile(file, work(await readFile(file)));
  };
  const inLine = (from: string, to: string) => (bytes: Buffer) =>
    Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1');

  it.each<[string, (bytes: Buffer) => Buffer]>([
    [
      'a byte of the content',
      (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]),
    ],
    ['the cost', inLine('"N":1024', '"N":2048')],
    ['white space in its first line', inLine('{"format"', '{ "format"')],
    ['its end', (bytes) => bytes.subarray(0, -5)],
    ['everything behind the first line', (bytes) => bytes.subarray(0, bytes.indexOf(0x0a) + 1)],
  ])('does not open with %s changed', async (_, work) => {
    await change(work);
    await expect(open().get('a')).rejects.toMatchObject({ code: 'secret.locked' });
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['noise', () => Buffer.alloc(5_000, 0x80)],
    ['nothing', () => Buffer.alloc(0)],
    ['JSON of another kind', () => Buffer.from('{"a":1}\n')],
    ['null', () => Buffer.from('null\n')],
    ['a newer version', inLine('"version":1', '"version":2')],
    ['another cipher', inLine('aes-256-gcm', 'rot13')],
    ['a cost that would eat all memory', inLine('"N":1024', '"N":1099511627776')],
    ['a cost that is no power of two', inLine('"N":1024', '"N":1000')],
    ['a negative cost', inLine('"r":8', '"r":-8')],
    ['a cost that never ends', inLine('"p":1', '"p":100000')],
  ])('is refused as damaged when it is %s', async (_, work) => {
    await change(work);
    await expect(open().get('a')).rejects.toMatchObject({
      code: 'secret.damaged',
      message: expect.stringContaining(file),
    });
  });

  it('is noticed between two questions of one command', async () => {
    const provider = open();
    await provider.set('a', new Secret('1'));
    await writeFile(file, inLine('aes-256-gcm"}', 'aes-256-gcm" }')(await readFile(file)));
    await expect(provider.get('a')).rejects.toMatchObject({ code: 'secret.damaged' });
  });
});
