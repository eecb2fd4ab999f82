import { describe, expect, it } from 'vitest';
import type { IncomingPlan } from '../plan/index.ts';
import { checkRunConfig } from '../resources/index.ts';
import { exchangeConfigOf, planExchange, type TokenExchangeFlags } from './token-exchange.ts';

const INCOMING = {
  kind: 'oidc',
  issuer: 'https://login.example.net',
  audience: 'desk',
  scopes: [],
  requiredScopes: [],
  addresses: 'public',
  allowHttp: false,
} as const satisfies IncomingPlan;
const URL = 'https://login.example.net/token';
const configOf = (flags: TokenExchangeFlags, more: object = {}) =>
  exchangeConfigOf(flags, { env: {}, incoming: INCOMING, ...more });
const wrong = (message: string) =>
  expect.objectContaining({ code: 'usage.invalid', message: expect.stringContaining(message) });
const nobody = async () => expect.fail('no secret is looked up');

/** As it comes out of the schema. */
function exchangeOf(flags: TokenExchangeFlags, more: object = {}) {
  const config = {
    schema_version: 'sallyport/v1',
    name: 'notes',
    remote_url: 'https://notes.example.net/mcp',
    transport: 'streamable-http',
    oidc_config: { issuer: INCOMING.issuer, audience: INCOMING.audience },
    token_exchange_config: configOf(flags, more),
  };
  return checkRunConfig(config, 'test').token_exchange_config;
}

describe('the flags of a token exchange', () => {
  it('mean nothing when none is there', () => {
    expect(configOf({})).toBeUndefined();
  });

  it.each<[keyof TokenExchangeFlags, TokenExchangeFlags]>([
    ['tokenExchangeAudience', { tokenExchangeAudience: 'notes' }],
    ['tokenExchangeScopes', { tokenExchangeScopes: ['read'] }],
    ['tokenExchangeHeaderName', { tokenExchangeHeaderName: 'X-Upstream' }],
    ['tokenExchangeSubjectTokenType', { tokenExchangeSubjectTokenType: 'id_token' }],
    ['tokenExchangeClientSecretFile', { tokenExchangeClientSecretFile: '/secret' }],
  ])('are refused when %s has no endpoint to go with', (name, flags) => {
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    expect(() => configOf(flags)).toThrow(wrong(`${flag} needs --token-exchange-url`));
  });

  it('are refused where nobody checks the token that would be exchanged', () => {
    const anonymous = () => configOf({ tokenExchangeUrl: URL }, { incoming: { kind: 'anonymous' } });
    expect(anonymous).toThrow(wrong('--token-exchange-url needs --oidc-issuer'));
  });

  it.each<TokenExchangeFlags>([{ tokenExchangeClientSecret: 's' }, { tokenExchangeClientSecretFile: '/s' }])(
    'are refused with a secret of nobody: %j',
    (flags) => {
      expect(() => configOf({ tokenExchangeUrl: URL, ...flags })).toThrow(wrong('needs --token-exchange-client-id'));
    },
  );

  it('keep where the secret is found, never the secret', () => {
    const client = { tokenExchangeUrl: URL, tokenExchangeClientId: 'gate' };
    const env = { SALLYPORT_TOKEN_EXCHANGE_CLIENT_SECRET: 'hush' };
    const source = (flags: TokenExchangeFlags, more?: object) =>
      configOf({ ...client, ...flags }, more)?.client_secret_ref;
    expect(source({ tokenExchangeClientSecretFile: '/secret' }, { env })).toBe('file:/secret');
    expect(source({}, { env })).toBe('env:SALLYPORT_TOKEN_EXCHANGE_CLIENT_SECRET');
    expect(source({ tokenExchangeClientSecret: 'hush' })).toBeUndefined();
    expect(JSON.stringify(configOf({ ...client, tokenExchangeClientSecret: 'hush' }))).not.toContain('hush');
  });

  it('change what they name and leave the rest', () => {
    const earlier = exchangeOf({ tokenExchangeUrl: URL, tokenExchangeAudience: 'old', tokenExchangeScopes: ['read'] });
    expect(configOf({ tokenExchangeAudience: 'new' }, { earlier })).toEqual({ ...earlier, audience: 'new' });
    expect(configOf({}, { earlier })).toEqual(earlier);
  });
});

describe('the plan of a token exchange', () => {
  it('is no credential without one', async () => {
    expect(await planExchange(undefined, { env: {}, resolveSecrets: nobody }, undefined)).toEqual({ kind: 'none' });
  });

  it('has everything that was said, and defaults for the rest', async () => {
    const places = { env: { EXCHANGE: 'hush' }, resolveSecrets: nobody };
    expect(await planExchange(exchangeOf({ tokenExchangeUrl: URL }), places, undefined)).toEqual({
      kind: 'token-exchange',
      tokenUrl: URL,
      clientAuth: 'client_secret_basic',
      scopes: [],
      subjectTokenType: 'access_token',
      header: 'authorization',
      addresses: 'private',
    });
    const said = exchangeOf({
      tokenExchangeUrl: URL,
      tokenExchangeAudience: 'notes',
      tokenExchangeClientId: 'gate',
      tokenExchangeScopes: ['read'],
      tokenExchangeHeaderName: 'X-Upstream',
      tokenExchangeSubjectTokenType: 'id_token',
    });
    const plan = await planExchange(said && { ...said, client_secret_ref: 'env:EXCHANGE' }, places, 'PEM');
    expect(plan).toMatchObject({
      audience: 'notes',
      clientId: 'gate',
      scopes: ['read'],
      header: 'x-upstream',
      subjectTokenType: 'id_token',
      ca: 'PEM',
    });
    expect(plan.kind === 'token-exchange' && plan.clientSecret?.reveal()).toBe('hush');
  });

  it('does not go on without a secret that was promised', async () => {
    const exchange = exchangeOf({ tokenExchangeUrl: URL, tokenExchangeClientId: 'gate' });
    const planned = planExchange(
      exchange && { ...exchange, client_secret_ref: 'env:EXCHANGE' },
      { env: {}, resolveSecrets: nobody },
      undefined,
    );
    await expect(planned).rejects.toMatchObject({ code: 'config.secret_missing' });
  });
});
