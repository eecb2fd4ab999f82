import { given, SallyError, Secret } from '../base/index.ts';
import type { CredentialPlan, IncomingPlan } from '../plan/index.ts';
import type { RunConfig } from '../resources/index.ts';
import type { Environment } from '../workloads/index.ts';
import { clientSecretSource, readClientSecret, type SecretPlaces } from './client-secret.ts';
import { exchangeReferenceOf } from './lifecycle/handed-secrets.ts';

/** What was said on the command line about the token that the server gets in exchange for the caller's. */
export interface TokenExchangeFlags {
  readonly tokenExchangeUrl?: string;
  readonly tokenExchangeAudience?: string;
  readonly tokenExchangeClientId?: string;
  readonly tokenExchangeClientSecret?: string;
  readonly tokenExchangeClientSecretFile?: string;
  readonly tokenExchangeScopes?: readonly string[];
  readonly tokenExchangeHeaderName?: string;
  readonly tokenExchangeSubjectTokenType?: 'access_token' | 'id_token' | 'jwt';
}

const FLAGS = {
  tokenExchangeAudience: '--token-exchange-audience',
  tokenExchangeClientId: '--token-exchange-client-id',
  tokenExchangeClientSecret: '--token-exchange-client-secret',
  tokenExchangeClientSecretFile: '--token-exchange-client-secret-file',
  tokenExchangeScopes: '--token-exchange-scopes',
  tokenExchangeHeaderName: '--token-exchange-header-name',
  tokenExchangeSubjectTokenType: '--token-exchange-subject-token-type',
} as const satisfies Partial<Record<keyof TokenExchangeFlags, string>>;

const SECRET_VARIABLE = 'SALLYPORT_TOKEN_EXCHANGE_CLIENT_SECRET';

type Exchange = NonNullable<RunConfig['token_exchange_config']>;

export interface ExchangeContext {
  readonly env: Environment;
  /** Boundary 1, as the other flags have it: whose token would be exchanged. */
  readonly incoming: IncomingPlan;
  /** What is changed, where it is. */
  readonly earlier?: Exchange | undefined;
}

/** What the flags say, in the form that is kept. The value of a secret is not kept; where it is found again is. */
export function exchangeConfigOf(
  flags: TokenExchangeFlags,
  { env, incoming, earlier }: ExchangeContext,
): Partial<Exchange> | undefined {
  const { tokenExchangeUrl: url = earlier?.token_url } = flags;
  const clientId = flags.tokenExchangeClientId ?? earlier?.client_id;
  const { tokenExchangeClientSecret: secret, tokenExchangeClientSecretFile: file } = flags;
  if (url === undefined) {
    const stray = Object.entries(FLAGS).find(([name]) => Object.hasOwn(flags, name));
    if (stray === undefined) return undefined;
    throw wrong(
      `${stray[1]} needs --token-exchange-url`,
      'name the endpoint that exchanges tokens, or leave the flag out',
    );
  }
  if (incoming.kind === 'anonymous') {
    const hint =
      'add --oidc-issuer and --oidc-audience: what is exchanged is the token of the caller, and without them nobody asks for one';
    throw wrong('--token-exchange-url needs --oidc-issuer', hint);
  }
  if (clientId === undefined && (secret ?? file) !== undefined) {
    const flag = secret === undefined ? FLAGS.tokenExchangeClientSecretFile : FLAGS.tokenExchangeClientSecret;
    throw wrong(`${flag} needs --token-exchange-client-id`, 'name the client that the secret is of');
  }
  return {
    ...earlier,
    ...given({
      token_url: url,
      audience: flags.tokenExchangeAudience,
      client_id: flags.tokenExchangeClientId,
      client_secret_ref: clientSecretSource({ clientId, file, variable: SECRET_VARIABLE }, env),
      scopes: flags.tokenExchangeScopes,
      subject_token_type: flags.tokenExchangeSubjectTokenType,
      external_token_header_name: flags.tokenExchangeHeaderName,
    }),
  } as Partial<Exchange>;
}

export interface ExchangeParts extends SecretPlaces {
  /** A client secret from the command line. It is for this run only and stands in no configuration. */
  readonly tokenExchangeClientSecret?: string | undefined;
}

/** Boundary 2 of a workload. Whoever wrote the URL runs the server too, so his own network is allowed. */
export async function planExchange(
  exchange: Exchange | undefined,
  parts: ExchangeParts,
  ca: string | undefined,
): Promise<CredentialPlan> {
  if (!exchange) return { kind: 'none' };
  const { external_token_header_name: header = 'authorization', scopes = [], client_id: clientId, audience } = exchange;
  return {
    kind: 'token-exchange',
    tokenUrl: exchange.token_url,
    clientAuth: 'client_secret_basic',
    scopes,
    subjectTokenType: exchange.subject_token_type,
    header: header.toLowerCase(),
    addresses: 'private',
    ...given({ clientId, clientSecret: await secretOf(exchange, parts), audience, ca }),
  };
}

async function secretOf({ client_secret_ref: source }: Exchange, parts: ExchangeParts): Promise<Secret | undefined> {
  const { tokenExchangeClientSecret: said } = parts;
  if (said !== undefined) return new Secret(said);
  return source === undefined ? undefined : await readClientSecret(source, exchangeReferenceOf, parts);
}

function wrong(message: string, hint: string): SallyError {
  return new SallyError('usage.invalid', message, { hint });
}
