import { expect, it } from 'vitest';
import { belongsTo, checkSecretName, isOnePasswordReference, isSystemName, systemName } from './names.ts';

it.each(['notes-key', 'A.b_c', 'x', '__proto__', 'op://Private/GitHub/token', 'op://My Vault/An item/section/field'])(
  '%s names a secret',
  (name) => {
    expect(() => checkSecretName(name)).not.toThrow();
  },
);

it.each([
  ['', 'it is empty'],
  ['../../etc/passwd', 'is not allowed'],
  ['a b', 'is not allowed'],
  ['a\u001b[2J', 'is not allowed'],
  ['--format', 'it starts like a flag'],
  ['x'.repeat(201), 'more than 200'],
  ['__sally_workload_notes/KEY', 'kept for Sallyport itself'],
  ['__SALLY_auth_x', 'kept for Sallyport itself'],
  ['op://vault', 'is not op://VAULT/ITEM/FIELD'],
  ['op://v/i/f,target=X', 'is not op://VAULT/ITEM/FIELD'],
])('%j does not', (name, why) => {
  expect(() => checkSecretName(name)).toThrow(
    expect.objectContaining({ code: 'usage.invalid', message: expect.stringContaining(why) }),
  );
});

it('shows no control character of a refused name', () => {
  expect(() => checkSecretName('\u001b]0;title\u0007')).toThrow(/^[\x20-\x7e]+$/);
});

it('keeps the owners of our own names apart', () => {
  const name = systemName('workload', 'a', 'b_KEY');
  expect(isSystemName(name)).toBe(true);
  expect(belongsTo(name, 'workload', 'a')).toBe(true);
  expect(belongsTo(name, 'workload', 'a_b')).toBe(false);
  expect(belongsTo(systemName('workload', 'ab', 'KEY'), 'workload', 'a')).toBe(false);
  expect(belongsTo(systemName('auth', 'a', 'KEY'), 'workload', 'a')).toBe(false);
});

it('takes no reference to 1Password that has a line end in it', () => {
  expect(isOnePasswordReference('op://v/i/f\n--help')).toBe(false);
});
