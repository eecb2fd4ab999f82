import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startBalancer } from '../../examples/two-providers-sentinel/balancer.ts';
import { type Caller, createLogin, type Login } from './caller.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { freePort } from './processes.ts';
import type { RecordingServer } from './recording-server.ts';
import { type RunningSally, startSally, tempFolder } from './sally.ts';

export interface BackendSetup {
  readonly server: Pick<RecordingServer, 'url'>;
  /** The spec of its MCPExternalAuthConfig; none when absent. */
  readonly auth?: Readonly<Record<string, unknown>>;
  /** Further members of its MCPServerEntry. */
  readonly entry?: Readonly<Record<string, unknown>>;
}

export interface BoundariesSetup {
  /** By name, in the order in which a login visits them. */
  readonly providers: Readonly<Record<string, IdentityProvider>>;
  /** Names of those that a login leaves out. */
  readonly optional?: readonly string[];
  readonly backends: Readonly<Record<string, BackendSetup>>;
  /** Values by `name/key`, for references in `auth` and `authServer`. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Further members of `authServerConfig`. */
  readonly authServer?: Readonly<Record<string, unknown>>;
  /** How many processes serve the endpoint; a balancer stands in front of several. */
  readonly replicas?: number;
  /** What the processes have as `SALLYPORT_HOME`, for commands that ask them. */
  readonly home?: string;
}

/** One process of the gateway. */
export interface Replica {
  readonly url: string;
  readonly sally: RunningSally;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** After `kill` or `stop`: the same again. */
  start(): Promise<void>;
}

/** Both boundaries for real: providers, backends that write down what they see, and `sally vmcp serve` in between. */
export interface Boundaries extends AsyncDisposable {
  /** The MCP endpoint, as clients know it. */
  readonly url: string;
  readonly issuer: string;
  readonly replicas: readonly [Replica, ...Replica[]];
  /** Writes the resources anew with other backends, and waits until all replicas have taken them over. */
  reload(backends: BoundariesSetup['backends']): Promise<void>;
  /** A whole login through all providers, by HTTP and with cookies as a browser does it. */
  login(user: string, options?: Login): Promise<Caller>;
}

export async function startBoundaries(setup: BoundariesSetup): Promise<Boundaries> {
  const folder = await tempFolder();
  const ports = await freePorts(setup.replicas ?? 1);
  const front = ports.length > 1 ? await startBalancer(0, ports) : undefined;
  const issuer = `http://127.0.0.1:${front?.port ?? ports[0]}`;
  const url = `${issuer}/mcp`;
  const env = { ...secretsOf(setup), ...(setup.home === undefined ? {} : { SALLYPORT_HOME: setup.home }) };
  const file = join(folder.path, 'gate.yaml');
  const write = (backends: BoundariesSetup['backends']) =>
    // JSON is YAML.
    writeFile(
      file,
      resourcesOf({ ...setup, backends }, issuer)
        .map((one) => JSON.stringify(one))
        .join('\n---\n'),
    );
  const start = (port: number) => startSally(['vmcp', 'serve', '-f', folder.path, '--port', String(port)], { env });

  async function startReplica(port: number): Promise<Replica> {
    let sally = await start(port);
    return {
      url: `http://127.0.0.1:${port}/mcp`,
      get sally() {
        return sally;
      },
      kill: async () => void (await sally.stop('SIGKILL')),
      async start() {
        sally = await start(port);
      },
    };
  }

  const replicas: Replica[] = [];
  async function dispose(): Promise<void> {
    await Promise.all(replicas.map(({ sally }) => sally.stop()));
    await front?.close();
    await folder[Symbol.asyncDispose]();
  }
  try {
    await write(setup.backends);
    for (const port of ports) replicas.push(await startReplica(port));
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    url,
    issuer,
    replicas: replicas as [Replica, ...Replica[]],
    async reload(backends) {
      await write(backends);
      await Promise.all(replicas.map(({ sally }) => sally.next('reloaded')));
    },
    login: createLogin({ url, issuer, replicas: replicas.map((replica) => replica.url) }),
    [Symbol.asyncDispose]: dispose,
  };
}

function secretsOf({ providers, secrets = {} }: BoundariesSetup): Record<string, string> {
  const signing = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const values: Record<string, string> = {
    'gate/hmac': randomBytes(32).toString('base64url'),
    'gate/signing': signing.export({ format: 'pem', type: 'pkcs8' }).toString(),
    ...Object.fromEntries(Object.entries(providers).map(([name, { client }]) => [`${name}/client`, client.secret])),
    ...secrets,
  };
  const variable = (place: string): string => `SALLYPORT_SECRET_${place.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`;
  return Object.fromEntries(Object.entries(values).map(([place, value]) => [variable(place), value]));
}

function resourcesOf({ providers, optional = [], backends, authServer }: BoundariesSetup, issuer: string): object[] {
  return [
    resource('VirtualMCPServer', 'gate', {
      groupRef: { name: 'gate' },
      incomingAuth: { type: 'oidc', oidcConfigRef: { name: 'gate', audience: `${issuer}/mcp` } },
      authServerConfig: {
        issuer,
        consent: 'skip',
        signingKeySecretRefs: [{ name: 'gate', key: 'signing' }],
        hmacSecretRefs: [{ name: 'gate', key: 'hmac' }],
        upstreamProviders: Object.entries(providers).map(([name, { issuer: issuerUrl, client }]) => ({
          name,
          type: 'oidc',
          required: !optional.includes(name),
          oidcConfig: { issuerUrl, clientId: client.id, clientSecretRef: { name, key: 'client' } },
        })),
        ...authServer,
      },
      outgoingAuth: { source: 'discovered' },
    }),
    resource('MCPOIDCConfig', 'gate', { type: 'inline', inline: { issuer } }),
    resource('MCPGroup', 'gate', {}),
    ...Object.entries(backends).flatMap(([name, { server, auth, entry }]) => [
      ...(auth ? [resource('MCPExternalAuthConfig', name, auth)] : []),
      resource('MCPServerEntry', name, {
        groupRef: { name: 'gate' },
        remoteUrl: server.url,
        allowPrivateEndpoint: true,
        ...(auth ? { externalAuthConfigRef: { name } } : {}),
        ...entry,
      }),
    ]),
  ];
}

function resource(kind: string, name: string, spec: object): object {
  return { apiVersion: 'sallyport.dev/v1alpha1', kind, metadata: { name }, spec };
}

async function freePorts(count: number): Promise<readonly [number, ...number[]]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports] as [number, ...number[]];
}
