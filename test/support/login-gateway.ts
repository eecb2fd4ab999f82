import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IdentityProvider } from './identity-provider.ts';
import type { OAuth2Provider } from './oauth2-provider.ts';
import { freePort } from './processes.ts';
import { type RunningSally, startSally, tempFolder } from './sally.ts';

export interface LoginGateway extends AsyncDisposable {
  /** The MCP endpoint. */
  readonly url: string;
  readonly issuer: string;
  readonly sally: RunningSally;
}

export interface LoginGatewayOptions {
  /** By name, in the order in which a login visits them. */
  readonly providers: Readonly<Record<string, IdentityProvider | OAuth2Provider>>;
  /** MCP endpoints behind the gateway, by name. */
  readonly backends: Readonly<Record<string, string>>;
  /** By the names of backends: the provider whose tokens they get. */
  readonly tokensOf?: Readonly<Record<string, string>>;
  /** Further members of the spec of the virtual server. */
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Further members of `authServerConfig`. */
  readonly authServer?: Readonly<Record<string, unknown>>;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The real `sally vmcp serve` with an embedded authorization server in front of these backends. */
export async function startLoginGateway({
  providers,
  backends,
  tokensOf = {},
  spec = {},
  authServer,
  env: more = {},
}: LoginGatewayOptions): Promise<LoginGateway> {
  const folder = await tempFolder();
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const url = `${issuer}/mcp`;
  const env: Record<string, string> = {
    ...more,
    SALLYPORT_SECRET_GATE_HMAC: randomBytes(32).toString('base64url'),
  };
  const upstreams = Object.entries(providers).map(([name, provider]) => {
    env[`SALLYPORT_SECRET_${name.toUpperCase()}_CLIENT`] = provider.client.secret;
    return upstreamOf(name, provider);
  });
  const resources = [
    resource('VirtualMCPServer', 'gate', {
      groupRef: { name: 'gate' },
      incomingAuth: { type: 'oidc', oidcConfigRef: { name: 'gate', audience: url } },
      authServerConfig: {
        issuer,
        upstreamProviders: upstreams,
        hmacSecretRefs: [{ name: 'gate', key: 'hmac' }],
        ...authServer,
      },
      outgoingAuth: { source: 'discovered' },
      ...spec,
    }),
    resource('MCPOIDCConfig', 'gate', { type: 'inline', inline: { issuer } }),
    resource('MCPGroup', 'gate', {}),
    ...Object.entries(tokensOf).map(([name, providerName]) =>
      resource('MCPExternalAuthConfig', name, { type: 'upstreamInject', upstreamInject: { providerName } }),
    ),
    ...Object.entries(backends).map(([name, remoteUrl]) =>
      resource('MCPServerEntry', name, {
        groupRef: { name: 'gate' },
        remoteUrl,
        allowPrivateEndpoint: true,
        ...(name in tokensOf ? { externalAuthConfigRef: { name } } : {}),
      }),
    ),
  ];
  // JSON is YAML.
  await writeFile(join(folder.path, 'gate.yaml'), resources.map((one) => JSON.stringify(one)).join('\n---\n'));
  try {
    const sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', String(port)], { env });
    return {
      url,
      issuer,
      sally,
      async [Symbol.asyncDispose]() {
        await sally.stop();
        await folder[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

function resource(kind: string, name: string, spec: object): object {
  return { apiVersion: 'sallyport.dev/v1alpha1', kind, metadata: { name }, spec };
}

/** Where Slack, and our own nesting provider, have what belongs to the user. */
const NESTED = {
  accessTokenPath: 'authed_user.access_token',
  refreshTokenPath: 'authed_user.refresh_token',
  expiresInPath: 'authed_user.expires_in',
  scopePath: 'authed_user.scope',
};

function upstreamOf(name: string, provider: IdentityProvider | OAuth2Provider): object {
  const client = { clientId: provider.client.id, clientSecretRef: { name, key: 'client' } };
  if ('issuer' in provider) return { name, type: 'oidc', oidcConfig: { issuerUrl: provider.issuer, ...client } };
  const { authorizationEndpoint, tokenEndpoint, userInfoEndpoint, nests } = provider;
  const userInfo = { endpointUrl: userInfoEndpoint, fieldMapping: { subjectFields: ['id'] } };
  return {
    name,
    type: 'oauth2',
    oauth2Config: {
      authorizationEndpoint,
      tokenEndpoint,
      userInfo,
      scopes: ['repo'],
      ...client,
      ...(nests ? { tokenResponseMapping: NESTED } : {}),
    },
  };
}
