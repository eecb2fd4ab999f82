import type { IncomingMessage } from 'node:http';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog, silentLog } from '../../base/index.ts';
import type { EmbeddedPlan } from '../../plan/index.ts';
import { type Identity, principalOf } from '../call.ts';
import { createCheckers } from './checkers.ts';
import type { OwnTokens } from './embedded.ts';
import { createIncoming, type IncomingParts } from './incoming.ts';

const PLAN: EmbeddedPlan = {
  kind: 'embedded',
  issuer: 'https://desk.example.net',
  audience: 'https://desk.example.net/mcp',
  resource: 'https://desk.example.net/mcp',
  scopes: ['openid'],
  requiredScopes: [],
};

let pair: Awaited<ReturnType<typeof generateKeyPair>>;
let keys: OwnTokens['keys'];
beforeAll(async () => {
  pair = await generateKeyPair('ES256', { extractable: true });
  keys = createLocalJWKSet({ keys: [await exportJWK(pair.publicKey)] });
});

let live: Set<string>;
let isSlow = false;
beforeEach(() => {
  live = new Set(['login-1']);
  isSlow = false;
});

function start(plan: EmbeddedPlan = PLAN, over: Partial<IncomingParts> = {}) {
  const isLive = (grant: string): boolean | Promise<boolean> =>
    isSlow ? Promise.resolve(live.has(grant)) : live.has(grant);
  return createIncoming(plan, {
    endpoint: 'desk',
    checkers: createCheckers({ log: silentLog, now: Date.now }),
    ownTokens: { keys, isLive },
    urlsOf: () => [PLAN.resource],
    log: silentLog,
    now: Date.now,
    ...over,
  }).identify;
}

async function token(claims: object = {}, typ = 'at+jwt'): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const all = { iss: PLAN.issuer, aud: PLAN.audience, sub: 'alice', tsid: 'login-1', exp, ...claims };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return await new SignJWT(kept as JWTPayload).setProtectedHeader({ alg: 'ES256', typ }).sign(pair.privateKey);
}

function request(authorization?: string): IncomingMessage {
  const headers = authorization === undefined ? {} : { authorization };
  return { headers, rawHeaders: Object.entries(headers).flat(), method: 'POST', url: '/mcp' } as never;
}

const bearer = async (claims?: object, typ?: string) => request(`Bearer ${await token(claims, typ)}`);
const refusal = (code: string, challenge: object = {}) =>
  expect.objectContaining({ code, challenge: expect.objectContaining(challenge) });

describe('tokens of the server in this process', () => {
  it('name their user, and keep the login to themselves', async () => {
    const identity = await start()(await bearer({ client_id: 'editor', scope: 'read' }));
    expect(identity).toMatchObject({
      kind: 'user',
      issuer: PLAN.issuer,
      subject: 'alice',
      clientId: 'editor',
      scopes: ['read'],
      grant: 'login-1',
    });
    expect(identity.kind === 'user' && identity.claims).not.toHaveProperty('tsid');
  });

  it('are good no longer than their login, also those seen a moment ago', async () => {
    const identify = start();
    const good = await bearer();
    await identify(good);
    expect(identify(good)).not.toBeInstanceOf(Promise);
    live.delete('login-1');
    expect(() => identify(good)).toThrow(refusal('incoming.token_refused', { error: 'invalid_token' }));
    isSlow = true;
    await expect(identify(good)).rejects.toThrow(refusal('incoming.token_refused'));
    live.add('login-1');
    await expect(identify(good)).resolves.toMatchObject({ subject: 'alice' });
  });

  it.each([
    ['an ID token', {}, 'JWT'],
    ['a token without a login', { tsid: undefined }, 'at+jwt'],
    ['a token whose login is no text', { tsid: ['login-1'] }, 'at+jwt'],
    ['a token for another endpoint', { aud: 'https://desk.example.net/other' }, 'at+jwt'],
    ['a token of an ended login', { tsid: 'login-2' }, 'at+jwt'],
  ])('%s is refused', async (_what, claims, typ) => {
    await expect(start()(await bearer(claims, typ))).rejects.toThrow(refusal('incoming.token_refused'));
  });

  it('cannot be asked for where there is no server', () => {
    expect(() =>
      createIncoming(PLAN, {
        endpoint: 'desk',
        checkers: createCheckers({ log: silentLog, now: Date.now }),
        urlsOf: () => [],
        log: silentLog,
        now: Date.now,
      }),
    ).toThrow(expect.objectContaining({ code: 'internal.bug' }));
  });
});

describe('scopes', () => {
  const plan = { ...PLAN, scopes: ['openid', 'offline_access'], requiredScopes: ['read', 'write'] };

  it('that are asked for are all named at once', async () => {
    const identify = start(plan);
    await expect(identify(await bearer({ scope: 'read' }))).rejects.toThrow(
      refusal('incoming.scope_missing', { error: 'insufficient_scope', scopes: ['read', 'write'] }),
    );
    await expect(identify(await bearer({ scope: 'write other read' }))).resolves.toBeDefined();
  });

  it('count for a token that is known already too', async () => {
    const identify = start(plan);
    const little = await bearer({ scope: 'readwrite' });
    await expect(identify(little)).rejects.toThrow();
    expect(() => identify(little)).toThrow(refusal('incoming.scope_missing'));
  });

  it('of refresh tokens are not told', () => {
    const identify = start({ ...PLAN, scopes: ['openid', 'offline_access'] });
    expect(() => identify(request())).toThrow(refusal('incoming.token_missing', { scopes: ['openid'] }));
  });
});

it('nothing presented is no error of the caller (RFC 6750 §3.1)', () => {
  try {
    start()(request('Basic dXNlcjpwYXNz'));
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({ code: 'incoming.token_missing' });
    expect((error as { challenge: object }).challenge).not.toHaveProperty('error');
  }
});

it('the log says why, once a minute, and the caller is not told', async () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog({ level: 'info', format: 'text', write, now: () => new Date(0) });
  const identify = start(PLAN, { log });
  for (let index = 0; index < 20; index += 1) {
    const error: Error = await Promise.resolve(identify(await bearer({ aud: `other ${index}` }))).catch((e) => e);
    expect(error.message).toBe('the token is expired, revoked or not meant for this server');
  }
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('it is meant for another audience');
});

describe('26. an anonymous endpoint', () => {
  const { identify } = createIncoming(
    { kind: 'anonymous' },
    {
      endpoint: 'open',
      checkers: createCheckers({ log: silentLog, now: Date.now }),
      urlsOf: () => [],
      log: silentLog,
      now: Date.now,
    },
  );

  it('takes who shows nothing', () => {
    expect(identify(request())).toEqual({ kind: 'anonymous' });
  });

  it.each(['Bearer abc', 'Basic abc', 'x', ''])('refuses who shows a credential that it cannot check: %j', (header) => {
    expect(() => identify(request(header))).toThrow(expect.objectContaining({ code: 'incoming.token_unexpected' }));
  });
});

describe('principals', () => {
  const user = (issuer: string, subject: string, clientId?: string): Identity =>
    ({ kind: 'user', issuer, subject, ...(clientId === undefined ? {} : { clientId }) }) as Identity;

  it('never collide, whatever issuers write', () => {
    const identities = [
      user('a', 'b'),
      user('a', 'b', 'c'),
      user('a', 'b","c'),
      user('a","b', 'c'),
      user('a', 'b', ''),
      user('a', 'b', 'null'),
      user('a b', 'c'),
      user('a', 'b c'),
      user('a', 'B'),
      user('anonymous', ''),
      { kind: 'anonymous' } as const,
    ];
    expect(new Set(identities.map(principalOf)).size).toBe(identities.length);
  });

  it('are the same for every token of a user and client', async () => {
    const identify = start();
    const first = await identify(await bearer({ client_id: 'editor', jti: '1' }));
    const second = await identify(await bearer({ client_id: 'editor', jti: '2', email: 'x@y@z' }));
    expect(principalOf(first)).toBe(principalOf(second));
  });
});
