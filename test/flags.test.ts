import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildProgram } from '../src/cli/cli.ts';
import { deafShell } from '../src/cli/deaf-shell.ts';
import { FLAG_TESTS } from './support/flag-tests.ts';

const options = buildProgram(deafShell()).commands.find((command) => command.name() === 'run')?.options ?? [];
/** `--thv-ca-bundle, --ca-bundle` are one option with two names, and each has its test. */
const flags = options.flatMap((option) => option.flags.match(/--[a-z-]+/g) ?? []);

it('every flag of sally run has a test of its effect', () => {
  expect(flags.length).toBeGreaterThan(50);
  expect(Object.keys(FLAG_TESTS).toSorted()).toEqual(flags.toSorted());
});

it.each(Object.entries(FLAG_TESTS))('the test of %s is there, and uses it', (flag, [file, test]) => {
  const places = ['integration', 'engines'].map((folder) => join(import.meta.dirname, folder, `${file}.test.ts`));
  const text = readFileSync(places.find(existsSync) ?? file, 'utf8');
  const at = text.indexOf(`'${test}'`);
  expect({ test, found: at >= 0 }).toEqual({ test, found: true });
  const short = options.find(({ long }) => long === flag)?.short;
  const names = [flag, ...(short === undefined ? [] : [short])].map((name) => `['"\`]${name}(=[^'"\`]*)?['"\`]`);
  expect(bodyOf(text, at)).toMatch(new RegExp(names.join('|')));
});

/** From a line in front of the name, where a table of cases may stand, to the next test; helpers of the file count, since tests call them. */
function bodyOf(text: string, at: number): string {
  const end = text.slice(at).search(/\n {0,4}it(\.each)?[.(<]/);
  const head = text.slice(text.lastIndexOf('\n', at), end < 0 ? undefined : at + end);
  const helpers = [...text.matchAll(/^(?:(?:async )?function .*?^\}|const .*?;$)/gms)].map(([whole]) => whole);
  return [head, ...helpers].join('\n');
}
