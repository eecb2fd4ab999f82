import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog, Secret } from '../../src/base/index.ts';
import { createCheckers } from '../../src/gateway/index.ts';
import type { KubernetesPlan, OidcPlan } from '../../src/plan/index.ts';
import { makeCertificate } from '../support/certificate.ts';
import { tempFolder } from '../support/sally.ts';
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts';

let issuer: TokenIssuer;
let clock: number;
let lines: string[];
beforeEach(async () => {
  issuer = await startTokenIssuer();
  [clock, lines] = [0, []];
});
afterEach(async () => {
  await issuer[Symbol.asyncDispose]();
});

const now = (): number => Date.now() + clock;
const parts = () => ({
  now,
  log: createLog({ level: 'debug', format: 'text', write: (line) => void lines.push(line), now: () => new Date() }),
});

function oidc(over: Partial<OidcPlan> = {}): OidcPlan {
  return {
    kind: 'oidc',
    issuer: issuer.url,
    audience: issuer.audience,
    scopes: ['openid'],
    requiredScopes: [],
    addresses: 'private',
    allowHttp: false,
    ...over,
  };
}

/** Checks tokens by this plan, against the real issuer. */
function start(plan: OidcPlan | KubernetesPlan, more: object = {}) {
  const lease = createCheckers({ ...parts(), ...more }).lease(plan);
  return {
    check: async (token: string) => lease.checker.known(token) ?? (await lease.checker.check(token)),
    issuer: async () => await lease.checker.issuer(),
    [Symbol.asyncDispose]: () => lease.release(),
  };
}

const GOOD = { ok: true };
const unavailable = { code: 'incoming.unavailable' };

describe('tokens of an issuer elsewhere', () => {
  it.each(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])(
    'are good when signed by %s with a published key',
    async (alg) => {
      await using checker = start(oidc());
      expect(await checker.check(await issuer.token({}, { alg }))).toMatchObject({
        ok: true,
        user: { issuer: issuer.url, subject: 'alice', clientId: 'desk' },
      });
    },
  );

  it('are good when the issuer has a path, by either form of discovery', async () => {
    await using tenant = await startTokenIssuer({ path: '/tenant/' });
    await using checker = start(oidc({ issuer: tenant.url }));
    expect(await checker.check(await tenant.token())).toMatchObject(GOOD);
    tenant.mood = 'oauth-only';
    await using other = start(oidc({ issuer: tenant.url, scopes: [] }));
    expect(await other.check(await tenant.token())).toMatchObject(GOOD);
    expect(tenant.seen.map(({ path }) => path)).toContain('/.well-known/oauth-authorization-server/tenant');
  });

  it('need no discovery when the keys have a configured place', async () => {
    await using checker = start(oidc({ jwksUrl: `${issuer.url}/keys` }));
    expect(await checker.check(await issuer.token())).toMatchObject(GOOD);
    expect(issuer.seen.map(({ path }) => path)).toEqual(['/keys']);
  });

  it('are good with a new key as soon as it signs', async () => {
    await using checker = start(oidc());
    const old = await issuer.token();
    await checker.check(old);
    await issuer.rotate();
    clock += 31_000;
    expect(await checker.check(await issuer.token())).toMatchObject(GOOD);
    clock += 60_000;
    expect(await checker.check(old)).toEqual({
      ok: false,
      reason: 'it was signed with a key that the issuer does not publish',
    });
  });

  it('cost one reading of the keys, however many come at once', async () => {
    await using checker = start(oidc());
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, index) => issuer.token({ jti: String(index) })));
    await Promise.all(tokens.map((token) => checker.check(token)));
    expect(issuer.keyReads()).toBe(1);
  });

  it('bring the bearer token of a file to the issuer, as it is now', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'token');
    await writeFile(file, 'first\n');
    await using checker = start(oidc({ tokenFile: file }));
    await checker.check(await issuer.token());
    await writeFile(file, 'second\n');
    clock += 11 * 60_000;
    await checker.check(await issuer.token({ exp: Math.floor(now() / 1000) + 600 }));
    expect(issuer.seen.map(({ headers }) => headers.authorization)).toEqual([
      ...Array(2).fill('Bearer first'),
      ...Array(2).fill('Bearer second'),
    ]);
  });

  it('do not bring it to where a document points', async () => {
    await using folder = await tempFolder();
    await using elsewhere = await startTokenIssuer();
    await writeFile(join(folder.path, 'token'), 'ours');
    issuer.document = { jwks_uri: `${elsewhere.url}/keys` };
    await using checker = start(oidc({ tokenFile: join(folder.path, 'token') }));
    await checker.check(await issuer.token());
    expect(issuer.seen[0]?.headers.authorization).toBe('Bearer ours');
    expect(elsewhere.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});

describe('an issuer that cannot be asked is no reason to refuse a token', () => {
  it.each(['down', 'impostor', 'redirecting', 'endless'] as const)('%s', async (mood) => {
    issuer.mood = mood;
    await using checker = start(oidc());
    await expect(checker.check(await issuer.token())).rejects.toMatchObject(unavailable);
    expect(lines.join('')).toContain('the keys of an issuer cannot be read');
  });

  it('silent', async () => {
    issuer.mood = 'silent';
    await using checker = start(oidc());
    const began = Date.now();
    await expect(checker.check(await issuer.token())).rejects.toMatchObject(unavailable);
    expect(Date.now() - began).toBeLessThan(8_000);
  });

  it.each([
    ['a key set without encryption on the way', { jwks_uri: 'http://keys.example/keys' }],
    ['no key set', { jwks_uri: undefined }],
    ['a key set in a file', { jwks_uri: 'file:///etc/passwd' }],
  ])('%s', async (_what, document) => {
    issuer.document = document;
    await using checker = start(oidc());
    await expect(checker.check(await issuer.token())).rejects.toMatchObject(unavailable);
  });

  it('at a private address, unless that is allowed; the log says how', async () => {
    await using checker = start(oidc({ addresses: 'public' }));
    await expect(checker.check(await issuer.token())).rejects.toMatchObject(unavailable);
    expect(lines.join('')).toContain('--jwks-allow-private-ip');
    expect(issuer.seen).toEqual([]);
  });

  it('with a certificate that nobody trusts, unless we are told to', async () => {
    const certificate = await makeCertificate();
    await using secure = await startTokenIssuer({ tls: certificate });
    await using stranger = start(oidc({ issuer: secure.url }));
    await expect(stranger.check(await secure.token())).rejects.toMatchObject(unavailable);
    await using friend = start(oidc({ issuer: secure.url, ca: certificate.cert }));
    expect(await friend.check(await secure.token())).toMatchObject(GOOD);
  });

  it('for an hour after it was last heard of', async () => {
    await using checker = start(oidc());
    const long = { exp: Math.floor(Date.now() / 1000) + 100_000 };
    await checker.check(await issuer.token(long));
    issuer.mood = 'down';
    clock += 59 * 60_000;
    expect(await checker.check(await issuer.token({ ...long, jti: '2' }))).toMatchObject(GOOD);
  });
});

describe('opaque tokens', () => {
  const client = { clientId: 'desk:1', clientSecret: new Secret('s%c ret:&') };
  const about = (over: object = {}) => ({
    active: true,
    sub: 'alice',
    aud: issuer.audience,
    client_id: 'cli',
    ...over,
  });

  beforeEach(() => {
    // RFC 6749 §2.3.1: form-encoded, so that the colon of the id stays in the id.
    issuer.client = 'desk%3A1:s%25c+ret%3A%26';
  });

  it('are asked about at the discovered place, by our name', async () => {
    issuer.opaque.set('opaque', about({ scope: 'read write', iss: issuer.url, team: 'blue' }));
    await using checker = start(oidc(client));
    expect(await checker.check('opaque')).toMatchObject({
      ok: true,
      user: { subject: 'alice', clientId: 'cli', scopes: ['read', 'write'], claims: { team: 'blue' } },
    });
    const asked = issuer.seen.at(-1);
    expect(asked).toMatchObject({ method: 'POST', path: '/introspect' });
    expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
      token: 'opaque',
      token_type_hint: 'access_token',
    });
  });

  it('are asked about once a minute, by however many requests', async () => {
    issuer.opaque.set('opaque', about());
    await using checker = start(oidc({ ...client, introspectionUrl: `${issuer.url}/introspect` }));
    await Promise.all(Array.from({ length: 20 }, () => checker.check('opaque')));
    await checker.check('opaque');
    expect(issuer.seen).toHaveLength(1);
    clock += 61_000;
    issuer.opaque.set('opaque', { active: false });
    expect(await checker.check('opaque')).toMatchObject({ ok: false });
  });

  it('that are refused are not asked about again for ten seconds', async () => {
    await using checker = start(oidc({ ...client, introspectionUrl: `${issuer.url}/introspect` }));
    for (let index = 0; index < 10; index += 1) await checker.check('unknown');
    expect(issuer.seen).toHaveLength(1);
    clock += 11_000;
    await checker.check('unknown');
    expect(issuer.seen).toHaveLength(2);
  });

  it.each<[object, string]>([
    [{ active: false }, 'the issuer says that it is not active'],
    [{ active: 'true' }, 'the issuer says that it is not active'],
    [{ iss: 'https://other.example' }, 'it comes from another issuer'],
    [{ aud: undefined }, 'it does not say which audience it is meant for'],
    [{ aud: 'https://other.example' }, 'it is meant for another audience'],
    [{ aud: ['x', 'y'] }, 'it is meant for another audience'],
    [{ exp: 1 }, 'it is expired'],
    [{ exp: 'later' }, 'it is malformed'],
    [{ nbf: 99_999_999_999 }, 'it is not valid yet'],
    [{ sub: undefined }, 'it names no user'],
  ])('are refused when the answer says %j', async (over, reason) => {
    issuer.opaque.set('opaque', about(over));
    await using checker = start(oidc(client));
    expect(await checker.check('opaque')).toEqual({ ok: false, reason });
  });

  it('are not remembered beyond their end', async () => {
    issuer.opaque.set('opaque', about({ exp: Math.floor(Date.now() / 1000) - 50 }));
    await using checker = start(oidc({ ...client, introspectionUrl: `${issuer.url}/introspect` }));
    expect(await checker.check('opaque')).toMatchObject(GOOD);
    clock += 12_000;
    expect(await checker.check('opaque')).toEqual({ ok: false, reason: 'it is expired' });
  });

  it.each([
    ['the issuer is down', { mood: 'down' }],
    ['the issuer does not know us', { client: 'other:one' }],
  ])('are not refused when %s', async (_what, change) => {
    Object.assign(issuer, change);
    await using checker = start(oidc({ ...client, introspectionUrl: `${issuer.url}/introspect` }));
    await expect(checker.check('opaque')).rejects.toMatchObject(unavailable);
  });

  it('that somebody makes up by the hundred do not become hundreds of questions at once', async () => {
    issuer.mood = 'silent';
    await using checker = start(oidc({ ...client, introspectionUrl: `${issuer.url}/introspect` }));
    const asked = Array.from({ length: 200 }, (_, index) => checker.check(`made-up-${index}`));
    const results = await Promise.allSettled(asked);
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: unavailable });
    expect(issuer.seen.length).toBeLessThanOrEqual(64);
  });

  it('are refused where nobody can be asked about them', async () => {
    await using checker = start(oidc());
    expect(await checker.check('opaque')).toEqual({
      ok: false,
      reason: 'it is opaque, and no introspection is configured',
    });
    expect(issuer.seen).toEqual([]);
  });
});

describe('service account tokens of a cluster', () => {
  const audience = 'sallyport';
  const plan = (over: Partial<KubernetesPlan> = {}): KubernetesPlan => ({
    kind: 'kubernetes',
    audience,
    scopes: ['openid'],
    requiredScopes: [],
    clusterAuth: true,
    ...over,
  });

  async function startCluster(pod: { readonly hasToken: boolean }) {
    const certificate = await makeCertificate();
    const api = await startTokenIssuer({ tls: certificate, audience });
    const folder = await tempFolder();
    const cluster = { api: api.url, tokenFile: join(folder.path, 'token'), caFile: join(folder.path, 'ca.crt') };
    await writeFile(cluster.caFile, certificate.cert);
    if (pod.hasToken) await writeFile(cluster.tokenFile, await api.token({ iss: 'https://cluster.example/id/7' }));
    return {
      api,
      cluster,
      async [Symbol.asyncDispose]() {
        await folder[Symbol.asyncDispose]();
        await api[Symbol.asyncDispose]();
      },
    };
  }

  it('come from the issuer that our own token names, with the keys that the API server shows to pods', async () => {
    await using world = await startCluster({ hasToken: true });
    await using checker = start(plan(), { cluster: world.cluster });
    const token = await world.api.token({ iss: 'https://cluster.example/id/7', sub: 'system:serviceaccount:a:b' });
    expect(await checker.check(token)).toMatchObject({ ok: true, user: { subject: 'system:serviceaccount:a:b' } });
    expect(await checker.issuer()).toBe('https://cluster.example/id/7');
    expect(world.api.seen.map(({ path }) => path)).toEqual(['/openid/v1/jwks']);
    expect(world.api.seen[0]?.headers.authorization).toMatch(/^Bearer ey/);
    expect(await checker.check(await world.api.token())).toEqual({ ok: false, reason: 'it comes from another issuer' });
  });

  it('come from the issuer that the API server names, where we have no token', async () => {
    await using world = await startCluster({ hasToken: false });
    world.api.document = { issuer: 'https://named.example' };
    await using checker = start(plan(), { cluster: world.cluster });
    expect(await checker.issuer()).toBe('https://named.example');
  });

  it('come from the API server itself, where it does not say', async () => {
    await using world = await startCluster({ hasToken: false });
    world.api.document = { issuer: undefined };
    await using checker = start(plan(), { cluster: world.cluster });
    expect(await checker.issuer()).toBe(world.api.url);
  });

  it('are asked about again after the API server was down', async () => {
    await using world = await startCluster({ hasToken: true });
    world.api.mood = 'down';
    await using checker = start(plan(), { cluster: world.cluster });
    const token = await world.api.token({ iss: 'https://cluster.example/id/7' });
    await expect(checker.check(token)).rejects.toMatchObject(unavailable);
    world.api.mood = 'well';
    clock += 6_000;
    expect(await checker.check(token)).toMatchObject(GOOD);
  });

  it('can be those of a named issuer, without the means of a pod', async () => {
    await using world = await startCluster({ hasToken: true });
    await using checker = start(plan({ issuer: world.api.url, clusterAuth: false }), { cluster: world.cluster });
    await expect(checker.check(await world.api.token())).rejects.toMatchObject(unavailable); // a private address
    expect(world.api.seen).toEqual([]);
  });

  it('for another audience are refused', async () => {
    await using world = await startCluster({ hasToken: true });
    await using checker = start(plan(), { cluster: world.cluster });
    const token = await world.api.token({ iss: 'https://cluster.example/id/7', aud: 'https://kubernetes.default.svc' });
    expect(await checker.check(token)).toEqual({ ok: false, reason: 'it is meant for another audience' });
  });
});

describe('checkers of one process', () => {
  it('are shared by equal plans, and end with the last one', async () => {
    const checkers = createCheckers(parts());
    const [first, second] = [checkers.lease(oidc()), checkers.lease(oidc())];
    expect(second.checker).toBe(first.checker);
    await first.release();
    expect(await second.checker.check(await issuer.token())).toMatchObject(GOOD);
    await second.release();
    const third = checkers.lease(oidc());
    expect(third.checker).not.toBe(first.checker);
    await third.release();
  });

  it('27. take a token for one audience, and the same token for another not', async () => {
    const checkers = createCheckers(parts());
    const [mine, other] = [checkers.lease(oidc()), checkers.lease(oidc({ audience: 'https://other.example' }))];
    const token = await issuer.token();
    expect(await mine.checker.check(token)).toMatchObject(GOOD);
    expect(await other.checker.check(token)).toMatchObject({ ok: false });
    await Promise.all([mine.release(), other.release()]);
  });
});
