import { decodeJwt, decodeProtectedHeader } from 'jose';
import { expect, it } from 'vitest';
import { startAuthServer } from '../../support/auth-server.ts';

it('a client that registers itself gets tokens for the resource', async () => {
  await using server = await startAuthServer();
  const client = await server.register();
  const redirect = await server.authorize(client, { scope: 'openid offline_access tools' });
  expect(redirect.origin).toBe('http://127.0.0.1:9999');
  expect(Object.fromEntries(redirect.searchParams)).toEqual({
    code: expect.any(String),
    state: 'xyz',
    iss: server.issuer,
  });

  const answer = await server.redeem(client, redirect.searchParams.get('code') ?? '');
  expect(answer.json).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.any(String),
    id_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'openid offline_access tools',
  });
  expect(decodeProtectedHeader(answer.json.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
  const claims = decodeJwt(answer.json.access_token);
  expect(claims).toMatchObject({
    iss: server.issuer,
    aud: server.resource,
    sub: 'user-of-alice',
    client_id: client.client_id,
    scope: 'openid offline_access tools',
    name: 'Alice',
    email: 'alice@example.com',
    tsid: expect.any(String),
    auth_time: expect.any(Number),
  });
  expect(server.core.tokens.isLive(String(claims.tsid))).toBe(true);
});
