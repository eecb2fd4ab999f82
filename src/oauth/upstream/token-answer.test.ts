import { describe, expect, it } from 'vitest';
import { readTokenAnswer, type TokenContext, tokensOf } from './token-answer.ts';

const CONTEXT: TokenContext = {
  provider: 'hub',
  source: { tokenEndpoint: 'https://hub.test/token' },
  scopes: ['asked'],
  askedAt: 1_000_000_000_500,
};
const NESTED = {
  accessToken: 'authed_user.access_token',
  refreshToken: 'authed_user.refresh_token',
  expiresIn: 'authed_user.expires_in',
  scope: 'authed_user.scope',
};
const FORM = 'application/x-www-form-urlencoded; charset=utf-8';

function read(body: string, init: { readonly status?: number; readonly type?: string } = {}) {
  const { status = 200, type = 'application/json' } = init;
  return readTokenAnswer('hub', new Response(body, { status, headers: { 'content-type': type } }));
}

describe('token answers', () => {
  it('are read flat, with an expiry in absolute time', async () => {
    const answer = await read(
      '{"access_token":"a","token_type":"Bearer","expires_in":60,"refresh_token":"r","scope":"x y"}',
    );
    const tokens = tokensOf(answer, CONTEXT);
    expect(tokens.accessToken.reveal()).toBe('a');
    expect(tokens.refreshToken?.reveal()).toBe('r');
    expect(tokens).toMatchObject({ expiresAt: 1_000_000_060, scopes: ['x', 'y'], source: CONTEXT.source });
  });

  it('are read form-encoded, with scopes separated by commas', async () => {
    const tokens = tokensOf(await read('access_token=a&token_type=bearer&scope=repo%2Cuser', { type: FORM }), CONTEXT);
    expect(tokens.accessToken.reveal()).toBe('a');
    expect(tokens.scopes).toEqual(['repo', 'user']);
  });

  it.each(['{"access_token":"a","token_type":"bearer"}', '{"access_token":"a","token_type":"bearer","expires_in":0}'])(
    'without an expiry never expire: %s',
    async (body) => {
      expect(tokensOf(await read(body), CONTEXT)).not.toHaveProperty('expiresAt');
    },
  );

  it('are read nested, where the type at the top is that of another token', async () => {
    const body =
      '{"ok":true,"access_token":"bot","token_type":"bot","authed_user":{"access_token":"user","expires_in":"7","scope":["a"]}}';
    const tokens = tokensOf(await read(body), { ...CONTEXT, paths: NESTED });
    expect(tokens.accessToken.reveal()).toBe('user');
    expect(tokens).toMatchObject({ expiresAt: 1_000_000_007, scopes: ['a'] });
  });

  it('never fall back to another token than the mapped one at a login', async () => {
    const answer = await read('{"access_token":"bot","token_type":"bearer"}');
    expect(() => tokensOf(answer, { ...CONTEXT, paths: NESTED })).toThrow(/no access token/);
    expect(tokensOf(answer, { ...CONTEXT, paths: NESTED, flatToo: true }).accessToken.reveal()).toBe('bot');
  });

  it.each(['{"access_token":"a"}', '{"access_token":"a","token_type":"mac"}'])(
    'must be of bearer tokens: %s',
    async (body) => {
      const answer = await read(body);
      expect(() => tokensOf(answer, CONTEXT)).toThrow(/bearer/);
    },
  );

  it.each([
    ['{"error":"bad_verification_code"}', 200, 'upstream.refused', 'bad_verification_code'],
    ['{"ok":false,"error":"ratelimited"}', 200, 'upstream.unavailable', 'ratelimited'],
    ['{"error":"invalid_grant","error_description":"token s3cret"}', 400, 'upstream.refused', 'invalid_grant'],
    ['{"error":"temporarily_unavailable"}', 400, 'upstream.unavailable', 'temporarily_unavailable'],
    ['<html>', 503, 'upstream.unavailable', undefined],
    ['', 429, 'upstream.unavailable', undefined],
    ['', 401, 'upstream.refused', undefined],
    ['not found', 404, 'upstream.answer_invalid', undefined],
    ['', 302, 'upstream.answer_invalid', undefined],
    ['hello', 200, 'upstream.answer_invalid', undefined],
    ['{"error":"a text with s3cret"}', 400, 'upstream.refused', 'unknown'],
  ])('that are failures say of which kind: %s %i', async (body, status, code, oauthCode) => {
    const failure = read(body, { status });
    await expect(failure).rejects.toMatchObject({ code, oauthCode });
    await expect(failure).rejects.not.toThrow(/s3cret/);
  });
});
