import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IncomingFlags, planFlags } from './incoming-flags.ts';

const ISSUER = 'https://login.example.net';
const BASE: IncomingFlags = { oidcIssuer: ISSUER, oidcAudience: 'https://mcp.example.net/mcp' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sally-flags-'));
  await writeFile(join(folder, 'secret'), 'from a file\n');
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const plan = (flags: IncomingFlags, env = {}, ca?: string) => planFlags(flags, env, ca);
const wrong = (message: RegExp) =>
  expect.objectContaining({ code: 'usage.invalid', message: expect.stringMatching(message) });

it('without flags everybody may call', async () => {
  expect(await plan({})).toEqual({ kind: 'anonymous' });
});

it('an issuer and an audience are enough', async () => {
  expect(await plan(BASE)).toEqual({
    kind: 'oidc',
    issuer: ISSUER,
    audience: 'https://mcp.example.net/mcp',
    resource: 'https://mcp.example.net/mcp',
    scopes: ['openid'],
    requiredScopes: [],
    addresses: 'public',
    allowHttp: false,
  });
});

describe('each flag has its effect', () => {
  it.each<[IncomingFlags, object]>([
    [{ oidcClientId: 'desk' }, { clientId: 'desk' }],
    [{ oidcJwksUrl: 'https://k.example/keys' }, { jwksUrl: 'https://k.example/keys' }],
    [{ oidcIntrospectionUrl: 'https://k.example/i' }, { introspectionUrl: 'https://k.example/i' }],
    [{ oidcScopes: ['a', 'b'] }, { scopes: ['a', 'b'] }],
    [{ oidcRequiredScopes: ['a'] }, { requiredScopes: ['a'] }],
    [
      { oidcInsecureAllowHttp: true, oidcIssuer: 'http://idp.example' },
      { allowHttp: true, issuer: 'http://idp.example' },
    ],
    [{ jwksAllowPrivateIp: true }, { addresses: 'private' }],
    [{ resourceUrl: 'https://other.example/mcp' }, { resource: 'https://other.example/mcp' }],
  ])('%j', async (flags, effect) => {
    expect(await plan({ ...BASE, ...flags })).toMatchObject(effect);
  });

  it('the file with a token is named, and must be there', async () => {
    const jwksAuthTokenFile = join(folder, 'secret');
    expect(await plan({ ...BASE, jwksAuthTokenFile })).toMatchObject({ tokenFile: jwksAuthTokenFile });
    await expect(plan({ ...BASE, jwksAuthTokenFile: join(folder, 'missing') })).rejects.toMatchObject({
      code: 'config.unreadable',
    });
  });

  it('the certificates go along', async () => {
    expect(await plan(BASE, {}, 'PEM')).toMatchObject({ ca: 'PEM' });
  });

  it('an audience that is no URL leaves the resource to be found out', async () => {
    expect(await plan({ ...BASE, oidcAudience: 'api://desk' })).not.toHaveProperty('resource');
  });
});

describe('the client secret', () => {
  const secretOf = async (flags: IncomingFlags, env = {}) => {
    const made = await plan({ ...BASE, oidcClientId: 'desk', ...flags }, env);
    return made.kind === 'oidc' ? made.clientSecret?.reveal() : undefined;
  };

  it('comes from its flag, its file or the environment', async () => {
    expect(await secretOf({ oidcClientSecret: 'flag' })).toBe('flag');
    expect(await secretOf({ oidcClientSecretFile: join(folder, 'secret') })).toBe('from a file');
    expect(await secretOf({}, { SALLYPORT_OIDC_CLIENT_SECRET: 'env' })).toBe('env');
    expect(await secretOf({ oidcClientSecret: 'flag' }, { SALLYPORT_OIDC_CLIENT_SECRET: 'env' })).toBe('flag');
  });

  it('in the environment changes nothing for who did not ask for tokens', async () => {
    const env = { SALLYPORT_OIDC_CLIENT_SECRET: 'env' };
    expect(await plan({}, env)).toEqual({ kind: 'anonymous' });
    expect(await plan(BASE, env)).not.toHaveProperty('clientSecret');
  });

  it('needs to be of somebody', async () => {
    await expect(plan({ ...BASE, oidcClientSecret: 's' })).rejects.toThrow(wrong(/--oidc-client-id/));
  });

  it('is not to be seen in what is printed of the plan', async () => {
    expect(JSON.stringify(await plan({ ...BASE, oidcClientId: 'desk', oidcClientSecret: 'hush' }))).not.toContain(
      'hush',
    );
  });
});

describe('what cannot be right is said at once', () => {
  it.each<IncomingFlags>([
    { oidcAudience: 'x' },
    { oidcClientId: 'x' },
    { oidcClientSecret: 'x' },
    { oidcClientSecretFile: 'x' },
    { oidcIntrospectionUrl: 'https://x.example' },
    { oidcJwksUrl: 'https://x.example' },
    { oidcScopes: ['x'] },
    { oidcRequiredScopes: ['x'] },
    { oidcInsecureAllowHttp: true },
    { jwksAllowPrivateIp: true },
    { jwksAuthTokenFile: 'x' },
    { resourceUrl: 'https://x.example' },
  ])('%j without an issuer', async (flags) => {
    await expect(plan(flags)).rejects.toThrow(wrong(/ needs --oidc-issuer$/));
  });

  it('an issuer without an audience, and why', async () => {
    await expect(plan({ oidcIssuer: ISSUER })).rejects.toMatchObject({
      message: '--oidc-issuer needs --oidc-audience',
      hint: expect.stringContaining('tokens for other servers would be good here'),
    });
  });

  it.each<[IncomingFlags, RegExp]>([
    [{ oidcIssuer: 'login.example.net' }, /--oidc-issuer is not a URL/],
    [{ oidcIssuer: 'http://login.example.net' }, /--oidc-issuer is not an https URL/],
    [{ oidcJwksUrl: 'http://login.example.net' }, /--oidc-jwks-url is not an https URL/],
    [{ oidcIntrospectionUrl: 'http://127.0.0.1.evil.example' }, /--oidc-introspection-url is not an https URL/],
    [{ oidcIssuer: 'https://user:pass@login.example.net' }, /--oidc-issuer is not a URL/],
    [{ resourceUrl: 'https://mcp.example.net/#x' }, /--resource-url is not a URL/],
    [{ resourceUrl: 'ftp://mcp.example.net' }, /--resource-url is not a URL/],
  ])('%j', async (flags, message) => {
    await expect(plan({ ...BASE, ...flags })).rejects.toThrow(wrong(message));
  });

  it('plain http to this machine is fine', async () => {
    expect(await plan({ ...BASE, oidcIssuer: 'http://localhost:8080' })).toMatchObject({ allowHttp: false });
  });
});
