import { expect, it } from 'vitest';
import { buildProgram } from './cli.ts';
import { deafShell } from './deaf-shell.ts';

const namesFor = (...argv: string[]): readonly string[] =>
  buildProgram({ ...deafShell(), argv }).commands.map((command) => command.name());

it('every command is found by the word that it begins with, alone', () => {
  const all = namesFor();
  expect(all.length).toBeGreaterThan(20);
  for (const name of all) expect(namesFor(name)).toEqual([name]);
});

it('who names no command, or an alias, has all of them', () => {
  for (const argv of [['--help'], ['ls'], ['--debug', 'run'], ['rnu'], ['constructor']])
    expect(namesFor(...argv)).toEqual(namesFor());
});
