import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDocuments } from './yaml-documents.ts';
import { readYamlFolder } from './yaml-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sally-yaml-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

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
      write(name, JSON.stringify({ name }));
    }
    const { raw, problems } = await readYamlFolder(folder);
    expect(raw.map(({ value }) => value)).toEqual([{ name: 'a.yml' }, { name: 'b.yaml' }, { name: 'sub/c.json' }]);
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

  it('does not repeat what it could not read: it may be half a secret', () => {
    for (const text of [
      'a: [x] hunter2\n',
      'a: "x" hunter2: y\n',
      '- a\nhunter2\n',
      '}hunter2',
      'a: b\n  hunter2: c\n',
    ]) {
      const { problems } = readDocuments('x.yaml', text);
      expect(problems.length).toBeGreaterThan(0);
      expect(JSON.stringify(problems)).not.toMatch('hunter2');
    }
  });

  it('refuses unknown tags and texts nested too deeply', () => {
    expect(readDocuments('x.yaml', 'a: !!js/function x').problems[0]?.message).toMatch('tag');
    expect(readDocuments('x.yaml', '['.repeat(200_000)).problems.length).toBeGreaterThan(0);
  });
});
