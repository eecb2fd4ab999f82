import { z } from 'zod';
import { ForwardedHeaderName } from '../fields/names.ts';
import { Scopes, Text } from '../fields/text.ts';
import { SecureUrl } from '../fields/urls.ts';
import { isMapping } from '../walk.ts';
import { SecretSource } from './secret-source.ts';

/** A token made for the server, in exchange for the one that a caller shows (RFC 8693). */
export const TokenExchange = z.strictObject({
  token_url: SecureUrl,
  audience: Text.optional(),
  client_id: Text.optional(),
  client_secret_ref: SecretSource.optional(),
  scopes: Scopes.optional(),
  subject_token_type: z.enum(['access_token', 'id_token', 'jwt']).default('access_token'),
  external_token_header_name: ForwardedHeaderName.optional(),
});
export type TokenExchange = z.output<typeof TokenExchange>;

interface Surroundings {
  readonly token_exchange_config?: TokenExchange | undefined;
  readonly oidc_config?: object | undefined;
  readonly transport: string;
  readonly header_forward?:
    | { readonly add_plaintext_headers: object; readonly add_headers_from_secret: object }
    | undefined;
  readonly remote_auth_config?: object | undefined;
}

/** What must hold between the exchange and the rest of a configuration, for each rule whether it is broken. */
export function exchangeRules(config: Surroundings): readonly (readonly [boolean, 'token_exchange_config', string])[] {
  const { token_exchange_config: exchange, oidc_config, transport, header_forward, remote_auth_config } = config;
  if (!exchange) return [];
  const header = exchange.external_token_header_name ?? 'Authorization';
  const fixed = { ...header_forward?.add_plaintext_headers, ...header_forward?.add_headers_from_secret };
  const isTaken = Object.keys(fixed).some((name) => name.toLowerCase() === header.toLowerCase());
  return [
    [
      oidc_config === undefined,
      'token_exchange_config',
      'needs oidc_config: what is exchanged is the token of the caller, and without it nobody asks for one',
    ],
    [
      transport === 'stdio',
      'token_exchange_config',
      'needs a server that speaks HTTP: over stdio there are no headers to carry a token',
    ],
    [
      exchange.client_secret_ref !== undefined && exchange.client_id === undefined,
      'token_exchange_config',
      'needs client_id together with client_secret_ref',
    ],
    [isTaken, 'token_exchange_config', `fills the header ${header}, and so does header_forward; choose one`],
    [
      remote_auth_config !== undefined && header.toLowerCase() === 'authorization',
      'token_exchange_config',
      'fills the header Authorization, and so does the bearer token of remote_auth_config; choose one',
    ],
  ];
}

const URN = 'urn:ietf:params:oauth:token-type:';
type Fields = Readonly<Record<string, unknown>>;

/** The same in the words of ToolHive. `refuse` hears what must not be taken over. */
export function exchangeFromToolHive(
  raw: Fields,
  refuse: (path: readonly string[], message: string, hint: string) => void,
): Fields | undefined {
  const exchange = raw.token_exchange_config;
  if (!isMapping(exchange)) return undefined;
  if (exchange.client_secret)
    refuse(
      ['token_exchange_config', 'client_secret'],
      'is a secret in plain text',
      'take it out, and write client_secret_ref: file:/PATH beside it',
    );
  const type = exchange.subject_token_type;
  const fields = {
    token_url: exchange.token_url,
    audience: exchange.audience,
    client_id: exchange.client_id,
    client_secret_ref: exchange.client_secret_ref,
    scopes: exchange.scopes,
    subject_token_type: typeof type === 'string' ? type.replace(URN, '') : type,
    // It names a header in any case, and says with the strategy whether that counts.
    external_token_header_name: exchange.header_strategy === 'custom' ? exchange.external_token_header_name : undefined,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
}
