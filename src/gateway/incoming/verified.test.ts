import { expect, it } from 'vitest';
import { refused, type Verdict } from '../../oauth/index.ts';
import { rememberVerified } from './verified.ts';

const GOOD = { issuer: 'i', subject: 'alice', scopes: [], claims: {} };

function remembered(expiresAt: number, verdictOf?: (token: string) => Verdict) {
  const state = { clock: 0, checks: 0 };
  const { known, check } = rememberVerified(
    async (token) => {
      state.checks += 1;
      return verdictOf?.(token) ?? { ok: true, token: { ...GOOD, expiresAt } };
    },
    () => state.clock,
  );
  return { state, known, check };
}

it('a known token is found at once', async () => {
  const { known, check } = remembered(600_000);
  expect(known('t')).toBeUndefined();
  const checked = await check('t');
  expect(known('t')).toBe(checked);
});

it('many requests with one new token cost one check', async () => {
  const { state, check } = remembered(600_000);
  await Promise.all(Array.from({ length: 50 }, () => check('t')));
  expect(state.checks).toBe(1);
});

it('a token is checked again after a minute', async () => {
  const { state, known, check } = remembered(600_000);
  await check('t');
  state.clock = 59_999;
  expect(known('t')).toBeDefined();
  state.clock = 60_000;
  expect(known('t')).toBeUndefined();
});

it('a token is not remembered beyond its end', async () => {
  const { state, known, check } = remembered(-30_000); // within the leeway
  await check('t');
  expect(known('t')).toBeDefined();
  state.clock = 30_000;
  expect(known('t')).toBeUndefined();
});

it('what was refused is not remembered, nor what could not be checked', async () => {
  const { known, check } = remembered(600_000, () => refused('it is expired'));
  expect(await check('t')).toEqual({ ok: false, reason: 'it is expired' });
  expect(known('t')).toBeUndefined();

  let isDown = true;
  const flaky = rememberVerified(
    async () => {
      if (isDown) throw new Error('down');
      return { ok: true, token: { ...GOOD, expiresAt: 600_000 } };
    },
    () => 0,
  );
  await expect(flaky.check('t')).rejects.toThrow('down');
  isDown = false;
  expect(await flaky.check('t')).toMatchObject({ ok: true });
});

it('27. a token that differs in its last character is another token', async () => {
  const { known, check } = remembered(600_000, (token) =>
    token.endsWith('a') ? { ok: true, token: { ...GOOD, expiresAt: 600_000 } } : refused('its signature is wrong'),
  );
  const long = 'x'.repeat(4_000);
  expect(await check(`${long}a`)).toMatchObject({ ok: true });
  expect(known(`${long}b`)).toBeUndefined();
  expect(await check(`${long}b`)).toMatchObject({ ok: false });
});

it('the token itself is kept as a secret', async () => {
  const { check } = remembered(600_000);
  const checked = await check('very-secret-token');
  expect(JSON.stringify(checked)).not.toContain('very-secret-token');
  expect(checked.ok && checked.user.token.reveal()).toBe('very-secret-token');
});
