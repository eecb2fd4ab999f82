import { type AccessToken, type Account, type Configuration, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { AuthServerPlan } from '../../plan/index.ts';
import type { ClientDocuments } from '../clients/documents.ts';
import { knownClient } from '../clients/known.ts';
import type { RedirectRules } from '../clients/redirect-uri.ts';
import { interactionUrl } from '../interactions/index.ts';
import type { SigningKeys } from '../keys.ts';
import type { ServerSecrets } from '../secrets.ts';
import { createAdapters } from '../storage/adapter.ts';
import type { ClientRows } from '../storage/clients.ts';
import type { Records } from '../storage/records.ts';
import type { Rotation } from '../storage/rotation.ts';
import type { User } from '../users.ts';
import { cookiesOf } from './cookies.ts';
import { featuresOf } from './features.ts';
import { lifetimesOf } from './lifetimes.ts';
import { createPolicy } from './policy.ts';
import { createResourceIndicators } from './resources.ts';
import { claimsOf, createScopeCheck, supportedScopes } from './scopes.ts';

export interface ProviderParts {
  readonly keys: SigningKeys;
  readonly secrets: ServerSecrets;
  readonly records: Records;
  readonly clients: ClientRows;
  readonly endGrant: (grantId: string) => Promise<void>;
  readonly rotation: Rotation;
  readonly reused: (grantId: string) => void;
  readonly documents: ClientDocuments;
  /** For the clients that the operator configured. */
  readonly redirects: RedirectRules;
  readonly findUser: (id: string) => Promise<User | undefined>;
}

/** Where the library answers, below the path of the issuer. */
export const PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  jwks: '/.well-known/jwks.json',
} as const;

/** The library, with every default that matters written down: an upgrade that changes one must not change us. */
export function createProvider(plan: AuthServerPlan, parts: ProviderParts): Provider {
  const { keys, secrets, records, clients, endGrant, rotation, reused, documents, redirects, findUser } = parts;
  const scopes = supportedScopes(plan);
  const algorithms = [...new Set(keys.map(({ alg }) => alg))];
  const issuer = new URL(plan.issuer);

  const configuration: Configuration = {
    adapter: createAdapters({ records, clients, endGrant, rotation, reused }),
    clients: plan.clients.map((client) => knownClient(client, redirects)),
    jwks: { keys: keys.map(({ privateJwk }) => privateJwk) } as NonNullable<Configuration['jwks']>,
    routes: PATHS,
    cookies: cookiesOf(issuer, secrets),
    ttl: lifetimesOf(plan),

    // OAuth 2.1: the code flow with PKCE S256 for everybody, and answers in the query.
    responseTypes: ['code'],
    pkce: { required: () => true },
    enableHttpPostMethods: false,
    acceptQueryParamAccessTokens: false,
    allowOmittingSingleRegisteredRedirectUri: false,
    scopes: [...scopes],
    claims: claimsOf(scopes),
    extraParams: { scope: createScopeCheck(scopes) },
    subjectTypes: ['public'],
    formats: { bitsOfOpaqueRandomness: 256 },

    clientAuthMethods: plan.clients.some(({ secret }) => secret)
      ? ['none', 'client_secret_basic', 'client_secret_post']
      : ['none'],
    clientDefaults: {
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: keys[0].alg as 'ES256',
    },
    enabledJWA: { idTokenSigningAlgValues: algorithms as 'ES256'[] },

    interactions: { url: (_ctx, interaction) => interactionUrl(plan.issuer, interaction.uid), policy: createPolicy() },
    loadExistingGrant: grantOfThisInteraction,
    expiresWithSession: () => false,
    findAccount: async (_ctx, id) => accountOf(await findUser(id)),
    extraTokenClaims,

    // To every client that can use one, whether or not it asked for offline_access (MCP clients forget to).
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,

    features: featuresOf(plan, documents, createResourceIndicators(plan, scopes, keys) as never),
    fetch: (url, init) => documents.fetch(url as string, init as RequestInit),
    // The edge makes a page of it where a person reads it.
    renderError: (ctx, out) => {
      ctx.type = 'application/json';
      ctx.body = out;
    },
  };
  return new Provider(plan.issuer, configuration);
}

async function grantOfThisInteraction(ctx: KoaContextWithOIDC) {
  const grantId = ctx.oidc.result?.consent?.grantId;
  return grantId === undefined ? undefined : await ctx.oidc.provider.Grant.find(grantId);
}

interface SallyAccount extends Account {
  readonly user: User;
}

function accountOf(user: User | undefined): SallyAccount | undefined {
  if (!user) return undefined;
  const { id, name, email } = user;
  return { accountId: id, user, claims: () => ({ sub: id, name, email }) };
}

/** `tsid` is the login: boundary 1 asks with it whether the login still stands, and boundary 2 for the tokens of the providers. */
function extraTokenClaims(ctx: KoaContextWithOIDC, token: unknown): Record<string, string | number> {
  const { grantId } = token as AccessToken;
  const { name, email } = (ctx.oidc.account as SallyAccount | undefined)?.user ?? {};
  const authTime = (ctx.oidc.entities.AuthorizationCode ?? ctx.oidc.entities.RefreshToken)?.authTime;
  return {
    tsid: grantId,
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    ...(authTime === undefined ? {} : { auth_time: authTime }),
  };
}
