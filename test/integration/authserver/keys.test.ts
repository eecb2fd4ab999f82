import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/base/index.ts';
import { startAuthServer, type TestAuthServer } from '../../support/auth-server.ts';

const pem = (key: KeyObject) => new Secret(key.export({ type: 'pkcs8', format: 'pem' }) as string);
const p256 = () => pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
const rsa = () => pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
const ed25519 = () => pem(generateKeyPairSync('ed25519').privateKey);

/** As another resource server would: with nothing but what is published. */
async function verifyOutside(server: TestAuthServer, token: string, audience: string): Promise<unknown> {
  const keys = createRemoteJWKSet(new URL(`${server.issuer}/.well-known/jwks.json`));
  return (await jwtVerify(token, keys, { issuer: server.issuer, audience })).payload;
}

describe('signing keys', () => {
  it.each([
    ['P-256', p256, 'ES256'],
    ['RSA', rsa, 'RS256'],
    ['Ed25519', ed25519, 'EdDSA'],
    ['P-384', () => pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey), 'ES384'],
  ])('%s signs access and ID tokens that anybody can verify', async (_name, make, alg) => {
    await using server = await startAuthServer({ plan: { signingKeys: [make()] } });
    const client = await server.register();
    const { json } = await server.tokens(client);
    for (const [token, audience] of [
      [json.access_token, server.resource],
      [json.id_token, client.client_id],
    ]) {
      expect(decodeProtectedHeader(token).alg).toBe(alg);
      expect(await verifyOutside(server, token, audience)).toMatchObject({ sub: 'user-of-alice' });
    }
  });

  it.each([
    ['of the same kind', p256, p256],
    ['of another kind', rsa, p256],
  ])(
    'turn: a new key %s signs, and tokens of the old one stay good as long as it is listed',
    async (_n, makeOld, makeNew) => {
      const [before, after] = [makeOld(), makeNew()];
      await using server = await startAuthServer({ plan: { signingKeys: [before] } });
      const client = await server.register();
      const old = (await server.tokens(client)).json;

      await server.reload({ signingKeys: [after, before] });
      expect((await server.get('/.well-known/jwks.json')).json.keys).toHaveLength(2);
      const fresh = (await server.tokens(client)).json;
      const kid = (token: string) => decodeProtectedHeader(token).kid;
      expect(kid(fresh.access_token)).not.toBe(kid(old.access_token));
      expect(kid(fresh.access_token)).toBe(kid(fresh.id_token));
      for (const { access_token } of [old, fresh]) await verifyOutside(server, access_token, server.resource);
      expect((await server.refresh(client, old.refresh_token)).status).toBe(200);

      await server.reload({ signingKeys: [after] });
      await expect(verifyOutside(server, old.access_token, server.resource)).rejects.toThrow();
      await verifyOutside(server, fresh.access_token, server.resource);
      expect((await server.tokens(client)).json.id_token).toBeDefined();
    },
  );

  it('that was made at the start stays over a reload, with clients and logins, and is warned about once', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const { json } = await server.tokens(client);
    const keys = (await server.get('/.well-known/jwks.json')).json;
    await server.reload({ scopes: ['tools'] });
    expect((await server.get('/.well-known/jwks.json')).json).toEqual(keys);
    expect((await server.refresh(client, json.refresh_token)).status).toBe(200);
    const warnings = server.logged.filter(({ level }) => level === 'warn');
    expect(warnings).toEqual([
      expect.objectContaining({
        message: 'a restart of the authorization server ends every login',
        server: 'default/test',
      }),
    ]);
    expect(server.core.report()).toMatchObject({
      issuer: server.issuer,
      keys: [keys.keys[0].kid],
      storage: 'memory',
    });
  });

  it('that cannot be read is named, and not shown', async () => {
    const signingKeys = [p256(), new Secret('-----BEGIN PRIVATE KEY-----\nvery-secret\n-----END PRIVATE KEY-----')];
    const failure = await startAuthServer({ plan: { signingKeys } }).catch((error: Error) => error);
    expect(failure).toMatchObject({
      code: 'config.invalid',
      message: expect.stringContaining('signingKeySecretRefs[1]'),
    });
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('very-secret');
  });
});

describe('the secrets of stored rows', () => {
  const [old, next] = [new Secret('old '.repeat(10)), new Secret('next '.repeat(10))];

  it('turn: what the old one wrote is still found while it is listed, and not after', async () => {
    await using server = await startAuthServer({ plan: { hmacSecrets: [old] } });
    const client = await server.register();
    const { json } = await server.tokens(client);
    await server.reload({ hmacSecrets: [next, old] });
    const refreshed = await server.refresh(client, json.refresh_token);
    expect(refreshed.status).toBe(200);

    await server.reload({ hmacSecrets: [next] });
    const after = await server.refresh(client, refreshed.json.refresh_token);
    // The client was registered under the old secret, so it is unknown as well.
    expect([after.status, after.json.error]).toEqual([401, 'invalid_client']);
  });

  it('without the secret nothing in the store is of use to anybody', async () => {
    await using server = await startAuthServer({ plan: { hmacSecrets: [old] } });
    const client = await server.register();
    const { json } = await server.tokens(client);
    await server.reload({ hmacSecrets: [next] });
    expect((await server.refresh(client, json.refresh_token)).status).toBe(401);
  });
});
