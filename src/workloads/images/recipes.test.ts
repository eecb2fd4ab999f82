import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type PackageReference, parsePackageReference } from '../../resources/index.ts';
import { recipeFor, tagFor } from './recipes.ts';
import { onlyFileIn, tarOf } from './tar.ts';

const reference = (text: string): PackageReference => parsePackageReference(text) as PackageReference;

describe('a recipe', () => {
  it('hands what comes from outside to its script as arguments, never as words of it', () => {
    for (const text of ['npx://@acme/notes@1.2.3', 'uvx://notes@1.2.3', 'go://example.com/notes@v1.2.3']) {
      const { script, args } = recipeFor(reference(text), undefined);
      expect(script).not.toContain('notes');
      expect(args.join(' ')).toContain('notes');
    }
  });

  it('starts the program that is named like the package, or the only one', () => {
    const { program } = recipeFor(reference('npx://@acme/notes'), undefined);
    expect(program(['other node_modules/@acme/notes/o.js', 'notes node_modules/@acme/notes/n.js'])).toBe(
      '/opt/server/node_modules/@acme/notes/n.js',
    );
    expect(program(['mcp-notes node_modules/@acme/notes/./n.js'])).toBe('/opt/server/node_modules/@acme/notes/n.js');
    expect(() => program([])).toThrow('no program');
    expect(() => program(['a x', 'b y'])).toThrow('several programs');
  });

  it.each(['notes ../../../bin/sh', 'notes node_modules/$(id)', 'notes a"b'])(
    'believes no package that says %j',
    (line) => {
      expect(() => recipeFor(reference('npx://notes'), undefined).program([line])).toThrow();
    },
  );
});

describe('the tag of an image', () => {
  it('is the same for the same inputs, and another for others', () => {
    const npm = reference('npx://@acme/notes@1.2.3');
    expect(tagFor(npm, [1, 'base'])).toBe(tagFor(npm, [1, 'base']));
    expect(tagFor(npm, [1, 'base'])).not.toBe(tagFor(npm, [1, 'other']));
    expect(tagFor(npm, [])).toMatch(/^localhost\/sallyport\/npx-acme-notes:[0-9a-f]{24}$/);
  });
});

describe('an archive', () => {
  it('is one that tar reads, with names of any length', () => {
    const long = `${'deep/'.repeat(40)}file.txt`;
    const archive = tarOf([
      { path: 'a' },
      { path: 'a/b.txt', content: 'hello', mode: 0o600 },
      { path: long, content: 'x' },
    ]);
    const listed = execFileSync('tar', ['-tf', '-'], { input: archive, encoding: 'utf8' });
    expect(listed.trim().split('\n')).toEqual(['a/', 'a/b.txt', long]);
  });

  it('gives back the only file in it', () => {
    expect(onlyFileIn(tarOf([{ path: 'x', content: 'hello' }]))?.toString()).toBe('hello');
    expect(onlyFileIn(tarOf([{ path: 'x' }]))).toBeUndefined();
  });
});
