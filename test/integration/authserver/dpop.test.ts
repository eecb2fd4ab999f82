import { randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { startAuthServer, type TestAuthServer, type TestClient, VERIFIER } from '../../support/auth-server.ts';

async function createHolder() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    proof: (url: string, claims: object = {}) =>
      new SignJWT({ htm: 'POST', htu: url, jti: randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
        .sign(privateKey),
  };
}

async function codeForm(server: TestAuthServer, client: TestClient) {
  const code = (await server.authorize(client)).searchParams.get('code') ?? '';
  return { grant_type: 'authorization_code', code, code_verifier: VERIFIER, ...client };
}

describe('a client that proves its key', () => {
  it('gets tokens that only this key can use, and refreshes with it', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const holder = await createHolder();
    const url = `${server.issuer}/oauth/token`;
    const { json } = await server.post('/oauth/token', await codeForm(server, client), {
      dpop: await holder.proof(url),
    });
    expect(json.token_type).toBe('DPoP');
    expect(decodeJwt(json.access_token).cnf).toEqual({ jkt: holder.thumbprint });

    const form = { grant_type: 'refresh_token', client_id: client.client_id, refresh_token: json.refresh_token };
    expect((await server.post('/oauth/token', form)).json.error).toBe('invalid_grant');
    const stranger = await createHolder();
    const stolen = await server.post('/oauth/token', form, { dpop: await stranger.proof(url) });
    expect(stolen.json.error).toBe('invalid_grant');
    const proof = await holder.proof(url);
    const refreshed = await server.post('/oauth/token', form, { dpop: proof });
    expect(decodeJwt(refreshed.json.access_token).cnf).toEqual({ jkt: holder.thumbprint });
    // Lost on the way and sent again by the HTTP client, to the letter.
    expect((await server.post('/oauth/token', form, { dpop: proof })).json).toEqual(refreshed.json);
  });

  it.each([
    ['for another address', 'https://elsewhere.example/oauth/token', {}],
    ['for another method', undefined, { htm: 'GET' }],
    ['that is old', undefined, { iat: 1_000_000 }],
  ])('is refused with a proof %s', async (_name, address, claims) => {
    await using server = await startAuthServer();
    const client = await server.register();
    const proof = await (await createHolder()).proof(address ?? `${server.issuer}/oauth/token`, claims);
    const { status, json } = await server.post('/oauth/token', await codeForm(server, client), { dpop: proof });
    expect([status, json.error]).toEqual([400, 'invalid_dpop_proof']);
  });

  it('cannot use a proof twice', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const proof = await (await createHolder()).proof(`${server.issuer}/oauth/token`);
    expect((await server.post('/oauth/token', await codeForm(server, client), { dpop: proof })).status).toBe(200);
    const again = await server.post('/oauth/token', await codeForm(server, client), { dpop: proof });
    expect(again.status).toBe(400);
    expect(again.json.access_token).toBeUndefined();
  });

  it('that always promised one gets nothing without', async () => {
    await using server = await startAuthServer();
    const client = await server.register({ dpop_bound_access_tokens: true });
    expect((await server.post('/oauth/token', await codeForm(server, client))).status).toBe(400);
  });

  it('can bind the code beforehand', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const [holder, stranger] = [await createHolder(), await createHolder()];
    const url = await server.authorize(client, { dpop_jkt: holder.thumbprint });
    const form = {
      grant_type: 'authorization_code',
      code: url.searchParams.get('code') ?? '',
      code_verifier: VERIFIER,
      ...client,
    };
    const proof = await stranger.proof(`${server.issuer}/oauth/token`);
    expect((await server.post('/oauth/token', form, { dpop: proof })).json.error).toBe('invalid_grant');
  });
});
