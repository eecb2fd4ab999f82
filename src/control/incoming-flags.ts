import { readFile } from 'node:fs/promises';
import { given, SallyError, Secret } from '../base/index.ts';
import { type IncomingPlan, type OidcPlan, resourceOf } from '../plan/index.ts';

/** What was said on the command line about how callers prove who they are. */
export interface IncomingFlags {
  readonly oidcIssuer?: string;
  readonly oidcAudience?: string;
  readonly oidcClientId?: string;
  readonly oidcClientSecret?: string;
  readonly oidcClientSecretFile?: string;
  readonly oidcIntrospectionUrl?: string;
  readonly oidcJwksUrl?: string;
  readonly oidcScopes?: readonly string[];
  readonly oidcRequiredScopes?: readonly string[];
  readonly oidcInsecureAllowHttp?: boolean;
  readonly jwksAllowPrivateIp?: boolean;
  readonly jwksAuthTokenFile?: string;
  readonly resourceUrl?: string;
}

const NAMES = [
  'oidcAudience',
  'oidcClientId',
  'oidcClientSecret',
  'oidcClientSecretFile',
  'oidcIntrospectionUrl',
  'oidcJwksUrl',
  'oidcScopes',
  'oidcRequiredScopes',
  'oidcInsecureAllowHttp',
  'jwksAllowPrivateIp',
  'jwksAuthTokenFile',
  'resourceUrl',
] as const satisfies readonly (keyof IncomingFlags)[];

/** Holds the client secret where a command line would show it to everybody on the machine. */
const SECRET_VARIABLE = 'SALLYPORT_OIDC_CLIENT_SECRET';

/** What the flags mean. No issuer and nothing that would need one: everybody may call. */
export async function planFlags(
  flags: IncomingFlags,
  env: Readonly<Record<string, string | undefined>>,
  ca: string | undefined,
): Promise<IncomingPlan> {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcClientId: clientId, resourceUrl } = flags;
  if (issuer === undefined) {
    const stray = NAMES.find((name) => flags[name] !== undefined);
    if (stray === undefined) return { kind: 'anonymous' };
    throw wrong(`${flagOf(stray)} needs --oidc-issuer`, 'name the issuer of the tokens too, or leave the flag out');
  }
  if (audience === undefined) {
    const hint =
      'add --oidc-audience with what the issuer writes into aud, usually the URL of this endpoint; without it tokens for other servers would be good here';
    throw wrong('--oidc-issuer needs --oidc-audience', hint);
  }
  const allowHttp = flags.oidcInsecureAllowHttp ?? false;
  checkUrl('--oidc-issuer', issuer, allowHttp);
  checkUrl('--oidc-jwks-url', flags.oidcJwksUrl, allowHttp);
  checkUrl('--oidc-introspection-url', flags.oidcIntrospectionUrl, allowHttp);
  checkUrl('--resource-url', resourceUrl, true);
  if (flags.jwksAuthTokenFile !== undefined) await readText(flags.jwksAuthTokenFile);
  const plan: OidcPlan = {
    kind: 'oidc',
    issuer,
    audience,
    scopes: flags.oidcScopes ?? ['openid'],
    requiredScopes: flags.oidcRequiredScopes ?? [],
    addresses: flags.jwksAllowPrivateIp ? 'private' : 'public',
    allowHttp,
    ...resourceOf(resourceUrl, audience),
    ...given({
      clientId,
      clientSecret: await secretOf(flags, env),
      jwksUrl: flags.oidcJwksUrl,
      introspectionUrl: flags.oidcIntrospectionUrl,
      tokenFile: flags.jwksAuthTokenFile,
      ca,
    }),
  };
  return plan;
}

async function secretOf(
  { oidcClientId, oidcClientSecret, oidcClientSecretFile }: IncomingFlags,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Secret | undefined> {
  const given = oidcClientSecretFile === undefined ? oidcClientSecret : await readText(oidcClientSecretFile);
  if (oidcClientId === undefined && given !== undefined)
    throw wrong('a client secret needs --oidc-client-id', 'name the client that the secret is of');
  const text = given ?? (oidcClientId === undefined ? undefined : env[SECRET_VARIABLE]);
  return text === undefined || text === '' ? undefined : new Secret(text);
}

async function readText(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new SallyError('config.unreadable', `${file} cannot be read`, { cause });
  }
}

function checkUrl(flag: string, text: string | undefined, allowHttp: boolean): void {
  if (text === undefined) return;
  const url = /[\s\\]/.test(text) ? null : URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}${url.hash}` !== '')
    throw wrong(
      `${flag} is not a URL that can be used`,
      'write https://HOST/PATH, without user, password and fragment',
    );
  const isLocal = /^(localhost|127\.[0-9.]+|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !allowHttp && !isLocal)
    throw wrong(`${flag} is not an https URL`, 'use https, or insist with --oidc-insecure-allow-http');
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function wrong(message: string, hint: string): SallyError {
  return new SallyError('usage.invalid', message, { hint });
}
