import { expect, it } from 'vitest';
import { Secret } from '../base/index.ts';
import { parseSecretFlag, resolveReferences } from './references.ts';

it('reads NAME,target=VARIABLE', () => {
  expect(parseSecretFlag('notes-key,target=NOTES_KEY')).toEqual({ name: 'notes-key', target: 'NOTES_KEY' });
  expect(parseSecretFlag('op://Private/A note/key,target=K')).toEqual({ name: 'op://Private/A note/key', target: 'K' });
});

it.each([
  'notes-key',
  'notes-key,target=',
  ',target=X',
  'notes-key,target=1X',
  'notes-key,target=A B',
  'notes-key,target=X-Api-Key',
  'notes-key,target=A,target=B',
  'notes-key,destination=A',
  '__sally_auth_notes/TOKEN,target=X',
])('refuses %s on a command line', (text) => {
  expect(() => parseSecretFlag(text)).toThrow(
    expect.objectContaining({ code: 'usage.invalid', hint: expect.any(String) }),
  );
});

const STORE: Readonly<Record<string, string>> = { a: '1', b: '2' };
const find = async (name: string): Promise<Secret | undefined> =>
  Object.hasOwn(STORE, name) ? new Secret(STORE[name] ?? '') : undefined;

it('gives the values by target, a header as well as a variable', async () => {
  const found = await resolveReferences(['a,target=A', 'b,target=X-Api-Key'], find);
  expect(Object.entries(found).map(([target, value]) => [target, value.reveal()])).toEqual([
    ['A', '1'],
    ['X-Api-Key', '2'],
  ]);
  expect(JSON.stringify(found)).not.toContain('1');
});

it('names every secret that is missing at once', async () => {
  await expect(resolveReferences(['x,target=A', 'a,target=B', 'y,target=C'], find)).rejects.toMatchObject({
    code: 'secret.missing',
    message: 'no value is stored for x, y',
    hint: expect.stringContaining('sally secret set x'),
  });
});

it('refuses two secrets for one target', async () => {
  await expect(resolveReferences(['a,target=A', 'b,target=A'], find)).rejects.toThrow('two secrets are meant for A');
});
