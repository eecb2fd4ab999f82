import { decodeJwt, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/base/index.ts';
import { startAuthServer } from '../../support/auth-server.ts';

const SECRET = 'x'.repeat(40);
const clients = [
  { id: 'rs', name: 'A resource server', redirectUris: ['https://rs.example/cb'], secret: new Secret(SECRET) },
  { id: 'rs2', name: 'Another', redirectUris: ['https://rs2.example/cb'], secret: new Secret(SECRET) },
];
const asRs = { authorization: `Basic ${Buffer.from(`rs:${SECRET}`).toString('base64')}` };

async function start() {
  const server = await startAuthServer({ plan: { clients } });
  const client = await server.register();
  const { json } = await server.tokens(client);
  const { client_id } = client;
  return {
    server,
    client,
    client_id,
    access: json.access_token,
    refresh: json.refresh_token,
    grant: String(decodeJwt(json.access_token).tsid),
  };
}

describe('revocation', () => {
  it.each(['access', 'refresh'] as const)('of the %s token ends the login at once', async (which) => {
    const { server, client, client_id, grant, ...tokens } = await start();
    await using _ = server;
    const { status, text, headers } = await server.post('/oauth/revoke', { client_id, token: tokens[which] });
    expect([status, text, headers['access-control-allow-origin']]).toEqual([200, '', '*']);
    expect(server.core.tokens.isLive(grant)).toBe(false);
    expect((await server.refresh(client, tokens.refresh)).json.error).toBe('invalid_grant');
    expect(server.logged.map(({ message }) => message)).toContain('grant.revoked');
  });

  it('takes the tokens of the providers along', async () => {
    const { server, client_id, access, grant } = await start();
    await using _ = server;
    const { records } = server.login;
    await records.rows('upstream-tokens').put('t', 'x', { ttl: 100, groups: [records.group('grant', grant)] });
    await server.post('/oauth/revoke', { client_id, token: access });
    expect(await records.rows('upstream-tokens').get('t')).toBeUndefined();
  });

  it('by another client changes nothing, and does not say so', async () => {
    const { server, access, refresh, grant } = await start();
    await using _ = server;
    const { client_id } = await server.register();
    for (const token of [access, refresh]) {
      const { status, text } = await server.post('/oauth/revoke', { client_id, token });
      expect([status, text]).toEqual([200, '']);
    }
    expect((await server.post('/oauth/revoke', { token: access }, asRs)).status).toBe(200);
    expect(server.core.tokens.isLive(grant)).toBe(true);
  });

  it('of a token that is forged, expired or none is fine, and changes nothing', async () => {
    const { server, client_id, access, grant } = await start();
    await using _ = server;
    const claims = decodeJwt(access);
    const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(Buffer.alloc(32));
    const altered = `${access.slice(0, -4)}AAAA`;
    for (const token of [forged, altered, 'nonsense', 'a.b.c']) {
      expect((await server.post('/oauth/revoke', { client_id, token })).status).toBe(200);
    }
    expect(server.core.tokens.isLive(grant)).toBe(true);
  });

  it('needs a client, a token, and each parameter once', async () => {
    const { server, client_id, access, grant } = await start();
    await using _ = server;
    expect((await server.post('/oauth/revoke', { token: access })).status).toBe(400);
    expect((await server.post('/oauth/revoke', { client_id: 'unknown', token: access })).status).toBe(401);
    expect((await server.post('/oauth/revoke', { client_id })).status).toBe(400);
    expect((await server.post('/oauth/revoke', `client_id=${client_id}&token=a&token=b`)).status).toBe(400);
    expect(server.core.tokens.isLive(grant)).toBe(true);
  });
});

describe('introspection', () => {
  it('tells a resource server about a token while its login stands', async () => {
    const { server, client_id, access, grant } = await start();
    await using _ = server;
    const { status, json, headers } = await server.post('/oauth/introspect', { token: access }, asRs);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    const { tsid: _tsid, ...claims } = decodeJwt(access);
    expect(json).toEqual({ active: true, token_type: 'Bearer', ...claims });
    expect(json).toMatchObject({ client_id, sub: 'user-of-alice', aud: server.resource });

    await server.post('/oauth/revoke', { client_id, token: access });
    expect(server.core.tokens.isLive(grant)).toBe(false);
    expect((await server.post('/oauth/introspect', { token: access }, asRs)).json).toEqual({ active: false });
  });

  it('is not for clients without a secret, nor with a wrong one', async () => {
    const { server, client_id, access } = await start();
    await using _ = server;
    const asPublic = await server.post('/oauth/introspect', { client_id, token: access });
    expect(asPublic.json?.active).not.toBe(true);
    const wrong = { authorization: `Basic ${Buffer.from('rs:wrong').toString('base64')}` };
    expect((await server.post('/oauth/introspect', { token: access }, wrong)).status).toBe(401);
    expect((await server.post('/oauth/introspect', { token: access })).status).toBe(400);
  });

  it('does not tell about refresh tokens of others, nor about what is no token', async () => {
    const { server, refresh } = await start();
    await using _ = server;
    for (const token of [refresh, 'nonsense', 'a.b.c']) {
      expect((await server.post('/oauth/introspect', { token }, asRs)).json).toEqual({ active: false });
    }
  });
});
