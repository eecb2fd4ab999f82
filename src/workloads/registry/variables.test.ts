import { expect, it } from 'vitest';
import type { Declaration } from './entry.ts';
import { settleVariables } from './variables.ts';

const KEY: Declaration = { name: 'KEY', description: 'the key', required: true, secret: true };
const REGION: Declaration = { name: 'REGION', required: true, secret: false, choices: ['eu', 'us'] };
const LEVEL: Declaration = { name: 'LEVEL', required: false, secret: false, default: 'info' };
const EXTRA: Declaration = { name: 'EXTRA', required: false, secret: false };
const ALL = [KEY, REGION, LEVEL, EXTRA];

/** A person who gives these answers, one after the other. */
function person(...answers: readonly string[]) {
  const asked: string[] = [];
  const next = (how: string) => async (question: string) => {
    asked.push(`${how} ${question}`);
    return answers[asked.length - 1] ?? '';
  };
  return { asked, ask: { ask: next('shown'), askHidden: next('hidden') } };
}

it('asks line by line for what is required, secrets without showing them', async () => {
  const { asked, ask } = person('hunter2', 'eu');
  const { values, secrets } = await settleVariables(ALL, new Set(), ask);
  expect(asked).toEqual(['hidden KEY (the key): ', 'shown REGION [eu, us]: ']);
  expect(values).toEqual({ REGION: 'eu', LEVEL: 'info' });
  expect(secrets.KEY?.reveal()).toBe('hunter2');
});

it('counts what every source gave before it asks or defaults', async () => {
  const { asked, ask } = person();
  expect(await settleVariables(ALL, new Set(['KEY', 'REGION', 'LEVEL']), ask)).toEqual({ values: {}, secrets: {} });
  expect(asked).toEqual([]);
});

it('names everything that is missing at once where nobody can be asked', async () => {
  await expect(settleVariables(ALL, new Set(), undefined)).rejects.toMatchObject({
    code: 'registry.variable_missing',
    message: 'the server needs values that were not given\nKEY: the key\nREGION',
    hint: expect.stringContaining('--secret'),
  });
});

it('asks again for an answer that is empty or not allowed, and does not start without one', async () => {
  expect((await settleVariables([REGION], new Set(), person('', 'mars', 'us').ask)).values).toEqual({ REGION: 'us' });
  await expect(settleVariables([REGION], new Set(), person('', '', '').ask)).rejects.toMatchObject({
    code: 'registry.variable_missing',
  });
});

it('puts an answer where the template has its gap, letter by letter', async () => {
  const header: Declaration = { ...KEY, name: 'Authorization', template: 'Bearer {}' };
  const { secrets } = await settleVariables([header], new Set(), person('$& a b').ask);
  expect(secrets.Authorization?.reveal()).toBe('Bearer $& a b');
});

it('keeps a default that is a secret out of the plain values', async () => {
  const { values, secrets } = await settleVariables([{ ...KEY, default: 'public?' }], new Set(), undefined);
  expect(values).toEqual({});
  expect(secrets.KEY?.reveal()).toBe('public?');
});

it('shows no control characters of a description', async () => {
  const { asked, ask } = person('x');
  await settleVariables([{ ...KEY, description: 'clear\u001b[2J' }], new Set(), ask);
  expect(asked[0]).toBe('hidden KEY (clear\\u001b[2J): ');
});
