import { type AuthServerMemory, type AuthServerParts, createAuthServer } from '../../src/authserver/index.ts';
import { createAuthServerMemory } from '../../src/authserver/memory.ts';
import { createLog, Secret } from '../../src/base/index.ts';
import type { AuthServerPlan, BackendPlan, GatewayPlan, UpstreamPlan } from '../../src/plan/index.ts';
import { emptyPlan, startGateways } from './gateways.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { OAuth2Provider } from './oauth2-provider.ts';
import { freePort } from './processes.ts';
import type { RecordingServer } from './recording-server.ts';

export interface InnerGateSetup {
  readonly corp: IdentityProvider;
  readonly hub: OAuth2Provider;
  /** Shown the tokens of `hub`. */
  readonly code: RecordingServer;
  /** What differs from the usual plan of the authorization server. */
  readonly plan?: Partial<AuthServerPlan>;
  readonly memory?: AuthServerMemory;
  readonly documentFetch?: AuthServerParts['documentFetch'];
}

/** The whole gate with its authorization server inside the test, for what no configuration reaches: its memory and its fetches. */
export interface InnerGate extends AsyncDisposable {
  /** The MCP endpoint. */
  readonly url: string;
  readonly issuer: string;
  readonly memory: AuthServerMemory;
  /** Lines of the log, as JSON. */
  readonly logged: readonly string[];
}

export async function startInnerGate(setup: InnerGateSetup): Promise<InnerGate> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const url = `${issuer}/mcp`;
  const logged: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: (line) => logged.push(line), now: () => new Date() });
  const memory = setup.memory ?? createAuthServerMemory();
  const authServer = await createAuthServer(planOf(setup, issuer), {
    memory,
    log,
    ...(setup.documentFetch ? { documentFetch: setup.documentFetch } : {}),
  });
  const incoming = {
    kind: 'embedded',
    issuer,
    audience: url,
    resource: url,
    scopes: ['openid', 'profile'],
    requiredScopes: [],
  } as const;
  const plan: GatewayPlan = { ...emptyPlan('gate', incoming), backends: [backendOf('code', setup.code.url)] };
  const gateways = await startGateways([plan], { authServer, log, port });
  return {
    url,
    issuer,
    memory,
    logged,
    async [Symbol.asyncDispose]() {
      await gateways[Symbol.asyncDispose]();
      await authServer.close();
    },
  };
}

function planOf({ corp, hub, plan }: InnerGateSetup, issuer: string): AuthServerPlan {
  return {
    name: 'test/gate',
    issuer,
    signingKeys: [],
    hmacSecrets: [],
    lifespans: { accessToken: 120, refreshToken: 3600, login: 7200, authCode: 60 },
    resources: [`${issuer}/mcp`],
    scopes: ['profile'],
    consent: 'always',
    registration: { dynamic: true, metadataDocuments: true, metadataHosts: [], redirectSchemes: [] },
    clients: [],
    providers: [corpOf(corp), hubOf(hub)],
    storage: { kind: 'memory' },
    ...plan,
  };
}

function upstream(name: string, client: IdentityProvider['client'] | OAuth2Provider['client']) {
  return {
    name,
    required: true,
    clientId: client.id,
    clientAuth: { kind: 'secret', secret: new Secret(client.secret) },
    authorizationParams: {},
    offlineIfOffered: true,
    addresses: 'private',
    backends: [],
  } as const;
}

function corpOf({ client, issuer }: IdentityProvider): UpstreamPlan {
  const scopes = ['openid', 'profile', 'email'];
  return { ...upstream('corp', client), scopes, endpoints: { kind: 'oidc', issuer, subjectClaim: 'sub' } };
}

function hubOf({
  client,
  authorizationEndpoint,
  tokenEndpoint,
  userInfoEndpoint,
  nests,
}: OAuth2Provider): UpstreamPlan {
  const below = 'authed_user.';
  return {
    ...upstream('hub', client),
    scopes: ['repo'],
    endpoints: {
      kind: 'oauth2',
      authorizationEndpoint,
      tokenEndpoint,
      userInfo: {
        url: userInfoEndpoint,
        method: 'GET',
        headers: {},
        subjectFields: ['id'],
        nameFields: ['name'],
        emailFields: ['email'],
      },
      ...(nests
        ? {
            tokenResponse: {
              accessToken: `${below}access_token`,
              refreshToken: `${below}refresh_token`,
              expiresIn: `${below}expires_in`,
              scope: `${below}scope`,
            },
          }
        : {}),
    },
  };
}

function backendOf(name: string, url: string): BackendPlan {
  return {
    name,
    target: { kind: 'streamable-http', url, addresses: 'private', headers: {} },
    credential: { kind: 'upstream-inject', provider: 'hub' },
    revision: 'auto',
    timeout: 10_000,
    breaker: { enabled: false, threshold: 5, timeout: 30_000 },
    health: { interval: 30_000, timeout: 5_000, threshold: 3 },
  };
}
