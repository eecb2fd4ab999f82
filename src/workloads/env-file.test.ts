import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseEnvFile, readEnvFile, readEnvFolder } from './env-file.ts';

describe('a file of variables', () => {
  it.each<[string, Record<string, string>]>([
    ['A=1\nB=two words', { A: '1', B: 'two words' }],
    ['\n# a comment\n  \nA=1 # why\nB=a#b\n', { A: '1', B: 'a#b' }],
    ['export A=1\r\nexport  B = 2 \r\n', { A: '1', B: '2' }],
    ['A=\nB=""\nC=# none', { A: '', B: '', C: '' }],
    ['A=a=b=c', { A: 'a=b=c' }],
    ["A='$HOME \\n #1'", { A: '$HOME \\n #1' }],
    ['A="line\\nnext\\t\\"q\\" \\\\ \\$X \\d" # said', { A: 'line\nnext\t"q" \\ $X \\d' }],
    ['KEY="-----BEGIN\nxyz\n-----END"\nB=1', { KEY: '-----BEGIN\nxyz\n-----END', B: '1' }],
    ['A=1\nA=2', { A: '2' }],
    ['\uFEFFA=1', { A: '1' }],
    ['A=$B', { A: '$B' }],
    ['__proto__x=1\nconstructor=2', { __proto__x: '1', constructor: '2' }],
    ['', {}],
  ])('%j means %j', (text, variables) => {
    expect(parseEnvFile(text, '.env')).toEqual(variables);
  });

  it.each([
    ['A=1\nnot a setting', '.env:2 is not KEY=VALUE'],
    ['=1', '.env:1 is not KEY=VALUE'],
    ['A=1\n\n9A=1', '.env:3 does not start with the name of a variable'],
    ['A="open\nB=1\n', '.env:1 opens a " and never closes it'],
    ["A='x' y", '.env:1 goes on after the closing quote'],
  ])('%j is refused with its line', (text, message) => {
    expect(() => parseEnvFile(text, '.env')).toThrow(message);
  });

  it('never tells a value in an error', () => {
    expect(() => parseEnvFile("TOKEN='hunter2' rest", '.env')).toThrow(expect.not.stringContaining('hunter2'));
  });
});

describe('a folder of such files', () => {
  it('is read in the order of names, without hidden files and folders, and one bad file is an error', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sally-env-'));
    try {
      await writeFile(join(folder, '10-base'), 'A=base\nB=base\n');
      await writeFile(join(folder, '20-mine.env'), 'B=mine\n');
      await writeFile(join(folder, '.swp'), 'not read');
      await mkdir(join(folder, 'sub'));
      expect(await readEnvFolder(folder)).toEqual({ A: 'base', B: 'mine' });
      await writeFile(join(folder, '30-bad'), 'oops');
      await expect(readEnvFolder(folder)).rejects.toThrow('30-bad:1 is not KEY=VALUE');
      await expect(readEnvFolder(join(folder, 'none'))).rejects.toMatchObject({ code: 'config.unreadable' });
      await expect(readEnvFile(join(folder, 'none'))).rejects.toMatchObject({ code: 'config.unreadable' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
