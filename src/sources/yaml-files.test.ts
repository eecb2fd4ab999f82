import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readText } from './files.ts';
import { readDocuments } from './yaml-documents.ts';
import { readYamlFolder } from './yaml-files.ts';

// The tests may run as root, who may read everything: refusals are played. Everything else is the real thing.
vi.mock('node:fs/promises', { spy: true });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sally-yaml-'));
});
afterEach(() => {
  vi.mocked(files.readdir).mockReset();
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

describe('a folder', () => {
  it('is read with its sub-folders, in the order of names, without hidden files and node_modules', async () => {
    for (const name of [
      'b.yaml',
      'a.yml',
      'sub/c.json',
      'node_modules/x.yaml',
      '.hidden.yaml',
      '.git/y.yaml',
      'z.txt',
    ]) {
      write(name, JSON.stringify({ kind: name }));
    }
    const { raw, problems } = await readYamlFolder(folder);
    expect(raw.map(({ value }) => value)).toEqual([{ kind: 'a.yml' }, { kind: 'b.yaml' }, { kind: 'sub/c.json' }]);
    expect(problems).toEqual([]);
  });

  it('may be one file of any name', async () => {
    write('only.conf', 'kind: MCPGroup');
    expect((await readYamlFolder(join(folder, 'only.conf'))).raw).toHaveLength(1);
  });

  it('without resource files is a problem', async () => {
    const { problems } = await readYamlFolder(folder);
    expect(problems).toEqual([
      { file: folder, line: 1, column: 1, path: '', message: 'has no .yaml, .yml or .json files' },
    ]);
  });

  it('whose files declare nothing is a problem', async () => {
    write('a.yaml', '# nothing yet\n---\n');
    expect((await readYamlFolder(folder)).problems[0]?.message).toBe('declares no resources');
  });

  it('that does not exist is an error with a hint', async () => {
    await expect(readYamlFolder(join(folder, 'nowhere'))).rejects.toMatchObject({
      code: 'config.unreadable',
      message: expect.stringContaining('does not exist'),
      hint: 'name a YAML file, or a folder with YAML files',
    });
  });

  it('is named relative to the current directory when it lies below', async () => {
    const { problems } = await readYamlFolder('src/sources');
    expect(problems[0]?.file).toBe('src/sources');
  });

  it('reports a file that is too large and reads the others', async () => {
    write('large.yaml', `# ${'x'.repeat(1024 * 1024)}`);
    write('small.yaml', 'kind: MCPGroup');
    const { raw, problems } = await readYamlFolder(folder);
    expect(raw).toHaveLength(1);
    expect(problems.map(({ message }) => message)).toEqual(['is larger than 1 MiB']);
  });

  it('may have very many documents in a file', { timeout: 20_000 }, async () => {
    write('a.yaml', '--- a\n'.repeat(170_000));
    expect((await readYamlFolder(folder)).raw).toHaveLength(170_000);
  });

  it('reports syntax errors of all files with their places', async () => {
    write('a.yaml', 'kind: MCPGroup\nmetadata: {name: [}\n');
    write('b.yaml', 'ok: true\n---\nkind: x\nkind: y\n');
    const { problems } = await readYamlFolder(folder);
    const places = problems.map(({ file, line, column }) => `${file.slice(folder.length + 1)}:${line}:${column}`);
    expect(places).toContain('a.yaml:2:19');
    expect(places).toContain('b.yaml:4:1');
    expect(problems.every(({ message }) => message.startsWith('is not valid YAML: '))).toBe(true);
  });
});

const problemsIn = async (path: string): Promise<string[]> =>
  (await readYamlFolder(path)).problems.map(({ file, message }) => `${file.slice(folder.length + 1)} ${message}`);

describe('a folder that is not only files', () => {
  it('with links in circles is read once, and soon', { timeout: 2_000 }, async () => {
    write('sub/a.yaml', 'kind: MCPGroup');
    for (const link of ['l1', 'l2', 'l3', 'sub/l4']) symlinkSync('.', join(folder, link));
    symlinkSync('..', join(folder, 'sub', 'up'));
    symlinkSync('sub', join(folder, 'again'));
    const { raw, problems } = await readYamlFolder(folder);
    expect(raw).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  it('says that it has too many folders', async () => {
    for (let i = 0; i < 1_000; i++) mkdirSync(join(folder, `f${i}`));
    write('a.yaml', 'kind: MCPGroup');
    expect(await problemsIn(folder)).toEqual([' has more than 1000 folders; the rest was not read']);
    rmSync(join(folder, 'f0'), { recursive: true });
    expect(await problemsIn(folder)).toEqual([]);
  });

  it('names the sub-folder that cannot be read, and reads the others', async () => {
    write('locked/a.yaml', 'kind: MCPGroup');
    write('open/b.yaml', 'kind: MCPGroup');
    const { readdir } = await vi.importActual<typeof files>('node:fs/promises');
    vi.mocked(files.readdir).mockImplementation(((path: string, options: { withFileTypes: true }) =>
      path.endsWith('locked')
        ? Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }))
        : readdir(path, options)) as never);
    const { raw, problems } = await readYamlFolder(folder);
    expect(raw).toHaveLength(1);
    expect(problems).toEqual([
      { file: join(folder, 'locked'), line: 1, column: 1, path: '', message: 'cannot be read (EACCES)' },
    ]);
  });

  it('that itself may not be read is an error with a hint', async () => {
    vi.mocked(files.readdir).mockRejectedValue(Object.assign(new Error('no'), { code: 'EACCES' }));
    await expect(readYamlFolder(folder)).rejects.toMatchObject({
      code: 'config.unreadable',
      hint: 'check who may read it',
    });
  });

  it('reports pipes and devices by name and never waits for them', { timeout: 2_000 }, async () => {
    execFileSync('mkfifo', [join(folder, 'pipe.yaml'), join(folder, 'other')]);
    symlinkSync('/dev/zero', join(folder, 'zero.yml'));
    symlinkSync('other', join(folder, 'link.json'));
    write('a.yaml', 'kind: MCPGroup');
    expect(await problemsIn(folder)).toEqual([
      'link.json is not a regular file',
      'pipe.yaml is not a regular file',
      'zero.yml is not a regular file',
    ]);
    expect(await problemsIn(join(folder, 'other'))).toEqual(['other is neither a file nor a folder']);
    expect(await problemsIn(join(folder, 'zero.yml'))).toEqual(['zero.yml is neither a file nor a folder']);
  });

  it('notices a pipe that was put in the place of a file after it was listed', { timeout: 2_000 }, async () => {
    execFileSync('mkfifo', [join(folder, 'a.yaml')]);
    expect(await readText(join(folder, 'a.yaml'))).toEqual({ is: 'unreadable', why: 'is not a regular file' });
  });
});

describe('JSON in a folder', () => {
  it.each([
    ['state', '{"sessions": [{"kind": "x"}]}'],
    ['a list', '[{"kind": "MCPGroup"}]'],
    ['a number', '1'],
    ['half of a state', '{"sessions": [{"id": 1'],
    ['lines of JSON', '{"type": "entity"}\n{"type": "relation"}\n'],
    ['a large state', `{"kind": "${'x'.repeat(1024 * 1024)}"}`],
    ['nothing', ''],
  ])('is ignored when it is %s', async (_, text) => {
    write('a.yaml', 'kind: MCPGroup');
    write('state.json', text);
    const { raw, problems } = await readYamlFolder(folder);
    expect(raw).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  it.each([
    ['a kind', '{"kind": "MCPGroup"}', 1],
    ['an apiVersion', '{"apiVersion": "v1"}', 1],
    ['a list of resources', '{"kind": "List", "items": [{"kind": "MCPGroup"}, {"kind": "MCPGroup"}]}', 2],
  ])('is read when it has %s', async (_, text, count) => {
    write('a.json', text);
    expect((await readYamlFolder(folder)).raw).toHaveLength(count);
  });

  it('is reported when it is a broken resource', async () => {
    write('a.json', '{"kind": "MCPGroup", "metadata": {"name": [}}');
    expect((await problemsIn(folder))[0]).toMatch('a.json is not valid YAML');
  });

  it('is read whatever it is when it was named', async () => {
    write('state.json', '{"sessions": []}');
    expect((await readYamlFolder(join(folder, 'state.json'))).raw).toHaveLength(1);
    write('state.json', '{"sessions": [');
    expect((await problemsIn(join(folder, 'state.json')))[0]).toMatch('is not valid YAML');
    write('state.json', ' '.repeat(1024 * 1024 + 1));
    expect(await problemsIn(join(folder, 'state.json'))).toEqual(['state.json is larger than 1 MiB']);
  });
});

describe('a text', () => {
  const TEXT = `# two resources
kind: MCPServer
metadata:
  name: notes
spec:
  env:
    - name: A
      value: "1"
    - {name: B}
---
kind: List
items:
  - kind: MCPGroup
    metadata: &meta
      name: tools
  - kind: MCPGroup
    metadata: *meta
`;
  const { raw } = readDocuments('two.yaml', TEXT);

  it.each([
    [0, ['spec', 'env', 0, 'value'], 8, 7],
    [0, ['spec', 'env', 1, 'name'], 9, 8],
    [0, ['spec', 'env', 1], 9, 7],
    [0, ['spec', 'env', 7, 'name'], 6, 3],
    [0, ['spec', 'image'], 5, 1],
    [0, [], 2, 1],
    [1, ['metadata', 'name'], 15, 7],
    [2, ['metadata', 'name'], 15, 7],
    [2, ['kind'], 16, 5],
  ])('knows where field %s %j is', (index, path, line, column) => {
    expect(raw[index]?.origin.locate(path)).toEqual({ line, column });
  });

  it('unpacks lists and skips empty documents', () => {
    expect(raw.map(({ value }) => (value as { kind: string }).kind)).toEqual(['MCPServer', 'MCPGroup', 'MCPGroup']);
    expect(readDocuments('x.yaml', '---\n---\n# nothing\n').raw).toEqual([]);
    expect(readDocuments('x.yaml', '')).toEqual({ raw: [], problems: [] });
  });

  it('follows YAML 1.2: yes is a word, 010 is ten', () => {
    expect(readDocuments('x.yaml', 'a: yes\nb: 010\n').raw[0]?.value).toEqual({ a: 'yes', b: 10 });
  });

  it('refuses aliases that multiply', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`);
    const { raw, problems } = readDocuments('bomb.yaml', `l0: &l0 [x]\n${levels.join('\n')}\n`);
    expect(raw).toEqual([]);
    expect(problems[0]?.message).toMatch('alias');
  });

  it('refuses very many aliases, and takes many', () => {
    const text = (count: number): string =>
      Array.from({ length: count }, (_, index) => `k${index}: &a${index} x\nl${index}: *a${index}\n`).join('');
    expect(readDocuments('x.yaml', text(1_000)).raw).toHaveLength(1);
    expect(readDocuments('x.yaml', text(1_001)).problems.map(({ message }) => message)).toEqual([
      'is not valid YAML: it has more than 1000 aliases',
    ]);
  });

  it('does not repeat what it could not read: it may be half a secret', () => {
    for (const text of [
      'a: [x] hunter2\n',
      'a: "x" hunter2: y\n',
      '- a\nhunter2\n',
      '}hunter2',
      'a: b\n  hunter2: c\n',
      'a: *hunter2\n',
      'a: !hunter2 b\n',
      'a: !hunter2! b\n',
      'a: |hunter2\n b\n',
      '%hunter2\n---\na: b\n',
      'a: "\\Uhunter2"\n',
    ]) {
      const { problems } = readDocuments('x.yaml', text);
      expect(problems.length).toBeGreaterThan(0);
      expect(JSON.stringify(problems)).not.toMatch('hunter2');
    }
  });

  it('refuses keys that are no texts, and prints nothing about them', () => {
    const warn = vi.spyOn(process, 'emitWarning');
    for (const text of ['? [a, b]\n: x\n', '? {a: b}\n: x\n', 'a: &k [1]\n*k : x\n', '{[a]: b}\n']) {
      const { raw, problems } = readDocuments('x.yaml', text);
      expect(raw).toEqual([]);
      expect(problems.map(({ message }) => message)).toEqual([
        'is not valid YAML: a key must be a plain text, not a list, a mapping or an alias',
      ]);
    }
    expect(warn).not.toHaveBeenCalled();
  });

  it('takes numbers as keys for what is written', () => {
    expect(readDocuments('x.yaml', '1: a\ntrue: b\n').raw[0]?.value).toEqual({ 1: 'a', true: 'b' });
    expect(readDocuments('x.yaml', '1: a\n"1": b\n').problems[0]).toMatchObject({ line: 2, column: 1 });
  });

  it('with very many keys is read soon, and its fields are found soon', { timeout: 10_000 }, () => {
    const keys = Array.from({ length: 60_000 }, (_, index) => `  k${index}: 1\n`);
    const [one] = readDocuments('x.yaml', `m:\n${keys.join('')}`).raw;
    for (const index of keys.keys()) expect(one?.origin.locate(['m', `k${index}`]).line).toBe(index + 2);
  });

  it('refuses unknown tags and texts nested too deeply', () => {
    expect(readDocuments('x.yaml', 'a: !!js/function x').problems[0]?.message).toMatch('tag');
    expect(readDocuments('x.yaml', '['.repeat(200_000)).problems.length).toBeGreaterThan(0);
  });
});
