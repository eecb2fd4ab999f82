import { expect, it } from 'vitest';
import { buildProgram } from './cli.ts';
import { deafShell } from './deaf-shell.ts';
import { commandPages, leavesOf, wordsOf } from './docs.ts';
import { examplesOf } from './examples.ts';

const commands = leavesOf(buildProgram(deafShell()));

it.each(commands.map((command) => [wordsOf(command), command] as const))(
  'sally %s says what it does, and its first example is one of itself',
  (words, command) => {
    const [first] = examplesOf(command);
    expect(command.description()).not.toBe('');
    expect(`${first?.[0]} `).toMatch(new RegExp(`^${words} `));
  },
);

it('every command has a page, with all its flags, and the index leads to it', () => {
  const pages = commandPages(buildProgram(deafShell()));
  const index = pages.get('README.md') ?? '';
  expect(pages.size).toBe(commands.length + 1);
  for (const command of commands) {
    const page = pages.get(`${wordsOf(command).replaceAll(' ', '-')}.md`) ?? '';
    expect(index).toContain(`[\`sally ${wordsOf(command)}\`]`);
    for (const { flags } of command.options) expect(page).toContain(`| \`${flags}\` |`);
    for (const [line] of examplesOf(command)) expect(page).toContain(`\nsally ${line}\n`);
  }
});

it('what is ours alone has no page', () => {
  expect(commands.map(wordsOf)).not.toContain('supervise');
});
