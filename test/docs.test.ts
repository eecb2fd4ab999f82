import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../src/cli/cli.ts';
import { deafShell } from '../src/cli/deaf-shell.ts';
import { formatProblem, validateResources } from '../src/resources/index.ts';
import { readYamlFolder } from '../src/sources/index.ts';
import { readDocuments } from '../src/sources/yaml-documents.ts';

/** The documents say what is there: their links, paths, commands and YAML are followed. */

const ROOT = resolve(import.meta.dirname, '..');

interface Page {
  /** Relative to the root of the repository. */
  readonly file: string;
  readonly text: string;
}

interface Block {
  /** What follows the three backticks: `sh`, `yaml`, `yaml quickstart`. */
  readonly info: string;
  readonly text: string;
}

const PAGES: readonly Page[] = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file.replaceAll('\\', '/')}`)
    .sort(),
  'examples/two-providers-sentinel/README.md',
].map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

const FENCED = /^```([^\n]*)\n(.*?)^```$/gms;

function blocksOf(text: string): Block[] {
  return [...text.matchAll(FENCED)].map(([, info = '', body = '']) => ({ info: info.trim(), text: body }));
}

/** The text that people read: without code, addresses and notes to tools. */
function proseOf(text: string): string {
  return text
    .replace(FENCED, '')
    .replace(/<!--.*?-->/gs, '')
    .replace(/`[^`\n]*`/g, '')
    .replace(/\]\([^)]*\)/g, ']');
}

function headingsOf(text: string): Set<string> {
  const headings = text.replace(FENCED, '').matchAll(/^#+ (.+)$/gm);
  return new Set([...headings].map(([, heading = '']) => anchorOf(heading)));
}

/** How GitHub names the anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Says for each thing that is wrong on which page it is. */
function complaints(check: (page: Page) => Iterable<string>, pages: readonly Page[] = PAGES): string[] {
  return pages.flatMap((page) => [...check(page)].map((complaint) => `${page.file}: ${complaint}`));
}

function isThere(path: string): boolean {
  return existsSync(join(ROOT, path));
}

describe('links and paths', () => {
  it('every relative link leads to a file, and to a heading that is in it', () => {
    function* broken({ file, text }: Page): Generator<string> {
      for (const [, target = ''] of text.replace(FENCED, '').matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [path = '', anchor] = target.split('#');
        const to = path === '' ? file : relative(ROOT, resolve(ROOT, dirname(file), path));
        if (!isThere(to)) yield `${target} is not there`;
        else if (anchor !== undefined && !headingsOf(readFileSync(join(ROOT, to), 'utf8')).has(anchor))
          yield `${target} names no heading`;
      }
    }
    expect(complaints(broken)).toEqual([]);
  });

  it('every path of the repository that is mentioned exists', () => {
    const PATH = /(?<![\w./@:=-])(?:src|test|docs|scripts|examples|schemas|deploy|bin)\/[\w.*/-]*/g;
    function* broken({ text }: Page): Generator<string> {
      for (const [found] of text.matchAll(PATH)) {
        // A star stands for any file of the folder, a full stop for the end of a sentence.
        const path = found.replace(/[^/]*\*.*$/, '').replace(/[.-]+$/, '');
        if (!isThere(path)) yield `${found} is not there`;
      }
    }
    expect(complaints(broken)).toEqual([]);
  });
});

describe('commands', () => {
  const program = buildProgram(deafShell());

  it('every sally command line names a real command and real flags', () => {
    const wrong = complaints(function* ({ text }) {
      for (const line of sallyLinesOf(text)) {
        const why = whyNoCommand(program, line);
        if (why) yield `sally ${line.join(' ')}: ${why}`;
      }
    });
    expect(wrong).toEqual([]);
  });

  it('every npm script that is mentioned exists', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    const wrong = complaints(function* ({ text }) {
      for (const [, run, short] of text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)) {
        const name = run ?? short ?? '';
        if (!Object.hasOwn(scripts, name)) yield `there is no npm script ${name}`;
      }
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ['vmcp serve -f my-tools --port 0', undefined],
    ['run -f npx://x@1.0.0 -- --any flag', undefined],
    ['vmcp sreve', 'no command sreve'],
    ['vmcp serve -f x --prot 1', 'no flag --prot'],
    ['validate -f x --format xml', '--format takes text, json'],
    ['crds stray', 'stray is one word too many'],
    ['vmcp serve -f', '-f needs a value'],
  ])('the check of `sally %s` says %s', (line, why) => {
    expect(whyNoCommand(program, line.split(' '))).toBe(why);
  });
});

/** The words after `sally` in shell blocks and in inline code, up to where the shell takes over again. */
function sallyLinesOf(text: string): string[][] {
  const shell = blocksOf(text)
    .filter(({ info }) => ['sh', 'bash', 'console'].includes(info))
    .flatMap((block) => block.text.replaceAll('\\\n', ' ').split('\n'));
  const inline = [...text.replace(FENCED, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [...shell, ...inline].flatMap((line) => {
    const match = /^(?:\$ )?(?:\w+=\S* )*(?:npx |node )?(?:sally|src\/main\.ts)(?: (.*))?$/.exec(line.trim());
    if (!match) return [];
    const words = (match[1] ?? '').split(/\s+/).filter((word) => word !== '');
    const end = words.findIndex((word) => ['|', '<', '>', '&&', ';', '#'].includes(word));
    return [end === -1 ? words : words.slice(0, end)];
  });
}

/** What commander would not take about a command line, or `undefined`. */
function whyNoCommand(program: Command, words: readonly string[]): string | undefined {
  let command = program;
  let positional = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return undefined;
    if (word.startsWith('-')) {
      const [flag = '', inline] = word.split('=', 2);
      if (['-h', '--help'].includes(flag)) continue;
      const option = findOption(command, flag);
      if (!option) return `no flag ${flag}`;
      if (!option.required && !option.optional) continue;
      const value = inline ?? words[++at];
      if (value === undefined) return `${flag} needs a value`;
      // A word in capitals stands for a value.
      if (option.argChoices && !option.argChoices.includes(value) && !/^[A-Z]+$/.test(value))
        return `${flag} takes ${option.argChoices.join(', ')}`;
      continue;
    }
    if (command.commands.length > 0) {
      const next = command.commands.find((one) => one.name() === word);
      // `sally COMMAND --help`: any command is meant.
      if (!next && /^[A-Z]+$/.test(word)) return undefined;
      if (!next) return `no command ${word}`;
      command = next;
      continue;
    }
    const { registeredArguments } = command;
    if (positional >= registeredArguments.length && !registeredArguments.at(-1)?.variadic)
      return `${word} is one word too many`;
    positional += 1;
  }
  return undefined;
}

function findOption(command: Command, flag: string): Option | undefined {
  for (let one: Command | null = command; one; one = one.parent) {
    const found = one.options.find(({ short, long }) => short === flag || long === flag);
    if (found) return found;
  }
  return undefined;
}

describe('YAML', () => {
  const OURS = 'apiVersion: sallyport.dev';
  const secretExists = (): boolean => true;

  /** `yaml` stands alone, `yaml quickstart` joins the folder that `sally vmcp init` writes, `yaml fragment` is part of a document. */
  it('every block with resources is marked, so that it can be checked', () => {
    const wrong = complaints(function* ({ text }) {
      for (const { info, text: block } of blocksOf(text)) {
        if (block.includes(OURS) && info !== 'yaml' && info !== 'yaml quickstart') yield `a block marked "${info}"`;
      }
    });
    expect(wrong).toEqual([]);
  });

  const GENERATED = PAGES.filter(({ file }) => file.startsWith('docs/resources/'));
  const WRITTEN = PAGES.filter((page) => !GENERATED.includes(page));

  it('every complete set of resources validates', () => {
    const wrong = complaints(function* ({ file, text }) {
      for (const block of blocksOf(text).filter(({ info, text: body }) => info === 'yaml' && body.includes(OURS)))
        yield* problemsOf(file, block.text);
    }, WRITTEN);
    expect(wrong).toEqual([]);
  });

  it('what a page adds to the quickstart validates there', async () => {
    const quickstart = await readYamlFolder(join(ROOT, 'examples/quickstart-anonymous'));
    const wrong = complaints(function* ({ file, text }) {
      const added = blocksOf(text).filter(({ info }) => info === 'yaml quickstart');
      if (added.length === 0) return;
      const read = readDocuments(file, added.map((block) => block.text).join('\n---\n'));
      const { problems } = validateResources([...quickstart.raw, ...read.raw], { secretExists });
      yield* [...read.problems, ...problems].map(formatProblem);
    }, WRITTEN);
    expect(wrong).toEqual([]);
  });

  it('the examples of all kinds are a set that validates', () => {
    const examples = GENERATED.flatMap(({ text }) => blocksOf(text)).map((block) => block.text);
    expect(examples.length).toBeGreaterThan(5);
    expect(problemsOf('docs/resources', examples.join('\n---\n'))).toEqual([]);
  });

  function problemsOf(file: string, text: string): string[] {
    const { raw, problems } = readDocuments(file, text);
    return [...problems, ...validateResources(raw, { secretExists }).problems].map(formatProblem);
  }
});

describe('decisions', () => {
  const FOLDER = join(ROOT, 'docs/decisions');
  const records = readdirSync(FOLDER).filter((file) => file !== 'README.md');

  it.each(records)('%s fills at most a screen and has the four parts', (file) => {
    const text = readFileSync(join(FOLDER, file), 'utf8');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
    expect(text).toMatch(new RegExp(`^# ${file.slice(0, 4)}: `));
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
      'Context',
      'Decision',
      'Cost',
      'Look again when',
    ]);
  });

  it('are all listed in the index, in order', () => {
    const index = readFileSync(join(FOLDER, 'README.md'), 'utf8');
    const listed = [...index.matchAll(/\]\((\d{4}-[\w-]+\.md)\)/g)].map(([, file]) => file);
    expect(listed).toEqual(records.toSorted());
  });
});

describe('words', () => {
  it('nothing is called small that may be hard for the reader', () => {
    const wrong = complaints(function* ({ text }) {
      for (const [word] of proseOf(text).matchAll(/\b(just|simply|easy|easily)\b/gi)) yield word;
    });
    expect(wrong).toEqual([]);
  });

  it('no page knows the machine it was written on, or where packages are hosted', () => {
    const PLACES =
      /(?<![\w.])\/(?:work|root|home\/\w+)\b|\b(?:registry\.npmjs|pypi|pythonhosted|proxy\.golang)\.org\b/g;
    const wrong = complaints(function* ({ text }) {
      for (const [place] of text.matchAll(PLACES)) yield place;
    });
    expect(wrong).toEqual([]);
  });
});
