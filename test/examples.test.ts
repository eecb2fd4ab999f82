import { expect, it } from 'vitest';
import { buildProgram } from '../src/cli/cli.ts';
import { deafShell } from '../src/cli/deaf-shell.ts';
import { leavesOf } from '../src/cli/docs.ts';
import { examplesOf } from '../src/cli/examples.ts';
import { SURROUNDINGS } from './support/example-surroundings.ts';

it('every example of the help is run by test/engines/examples.test.ts, and nothing else is', () => {
  const shown = leavesOf(buildProgram(deafShell())).flatMap((command) => examplesOf(command).map(([line]) => line));
  expect(Object.keys(SURROUNDINGS).toSorted()).toEqual([...new Set(shown)].toSorted());
});
