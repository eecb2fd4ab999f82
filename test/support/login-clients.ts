import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { eventually } from './processes.ts';
import { ROOT, tempFolder } from './sally.ts';

/** The part of an MCP client that a user sees. It is sent to log in when it has to, by itself. */
export interface LoginClient extends AsyncDisposable {
  /** The text that a tool answers. */
  call(tool: string): Promise<string>;
  /** How often its user had to log in. */
  logins(): number;
  /** What it holds right now. */
  credentials(): Promise<Credentials>;
}

export interface Credentials {
  readonly clientId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface LoginClientOptions {
  /** The MCP endpoint, all that a client is told. */
  readonly url: string;
  /** What the user does in a browser: from this address up to the one in front of the client. */
  readonly browse: (address: URL, isClient: (url: URL) => boolean) => Promise<URL>;
  /** The address of a document about the client, in place of a registration. */
  readonly clientMetadataUrl?: string;
  /** The port that the browser comes back to. */
  readonly port: number;
}

export type StartLoginClient = (options: LoginClientOptions) => Promise<LoginClient>;

/** Milliseconds. Shorter than a test may take, so that it can tell what was printed. */
const PATIENCE = 20_000;
const INFO = { name: 'login-test', version: '1' };
const textOf = (result: object): string =>
  (result as { readonly content?: readonly { readonly text?: string }[] }).content?.[0]?.text ?? 'no text';

/** What both SDKs ask of the program around them. They agree on its shape, and nobody has two of the values at once. */
function createProvider({ port, clientMetadataUrl }: LoginClientOptions) {
  const redirectUrl = `http://127.0.0.1:${port}/callback`;
  const kept: {
    client?: v2.StoredOAuthClientInformation;
    tokens?: v2.StoredOAuthTokens;
    verifier?: string;
    discovered?: v2.OAuthDiscoveryState;
  } = {};
  let asked: URL | undefined;
  let logins = 0;
  const provider: v2.OAuthClientProvider = {
    redirectUrl,
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    clientMetadata: {
      client_name: 'Login test',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.client,
    saveClientInformation(client) {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      kept.tokens = tokens;
    },
    saveCodeVerifier(verifier) {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? '',
    discoveryState: () => kept.discovered,
    saveDiscoveryState(discovered) {
      kept.discovered = discovered;
    },
    redirectToAuthorization(url) {
      asked = url;
      logins += 1;
    },
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') delete kept.client;
      if (scope === 'all' || scope === 'tokens') delete kept.tokens;
      if (scope === 'all' || scope === 'discovery') delete kept.discovered;
    },
  };
  return {
    provider,
    logins: () => logins,
    /** Where the user was sent, once. */
    takeAddress(): URL {
      if (!asked) throw new Error('the user was not sent anywhere');
      const address = asked;
      asked = undefined;
      return address;
    },
    isClient: (url: URL): boolean => url.href.startsWith(redirectUrl),
    async credentials(): Promise<Credentials> {
      const { client, tokens } = kept;
      return {
        clientId: client?.client_id ?? '',
        accessToken: tokens?.access_token ?? '',
        refreshToken: tokens?.refresh_token ?? '',
      };
    },
  };
}

interface Connection {
  call(tool: string): Promise<string>;
  finish(callback: URLSearchParams): Promise<void>;
  close(): Promise<void>;
}

/** A program around an SDK: it connects, and when it is told that its user has to log in, it waits for him and tries again. */
function around(
  options: LoginClientOptions,
  connect: (provider: v2.OAuthClientProvider) => { readonly opened: Promise<void>; readonly connection: Connection },
): LoginClient {
  const state = createProvider(options);
  let open: Connection | undefined;

  async function withLogin<T>(attempt: () => Promise<T>, finish: Connection['finish']): Promise<T> {
    try {
      return await attempt();
    } catch (error) {
      if ((error as Error).name !== 'UnauthorizedError' && !(error as Error).message.includes('Unauthorized'))
        throw error;
    }
    const back = await options.browse(state.takeAddress(), state.isClient);
    await finish(back.searchParams);
    return await attempt();
  }

  async function connected(): Promise<Connection> {
    if (open) return open;
    let last: Connection | undefined;
    return await withLogin(
      async () => {
        const { opened, connection } = connect(state.provider);
        last = connection;
        await opened;
        open = connection;
        return connection;
      },
      async (callback) => await last?.finish(callback),
    );
  }

  return {
    async call(tool) {
      const connection = await connected();
      return await withLogin(() => connection.call(tool), connection.finish);
    },
    logins: state.logins,
    credentials: state.credentials,
    [Symbol.asyncDispose]: async () => await open?.close(),
  };
}

export const startSdkV1: StartLoginClient = async (options) =>
  around(options, (provider) => {
    const transport = new TransportV1(new URL(options.url), { authProvider: provider as never });
    const client = new ClientV1(INFO);
    return {
      opened: client.connect(transport as never),
      connection: {
        call: async (name) => textOf(await client.callTool({ name, arguments: {} })),
        finish: (callback) => transport.finishAuth(callback.get('code') ?? ''),
        close: () => client.close(),
      },
    };
  });

/** The SDK v2, for a server of the era with sessions or of the one without. */
export function startSdkV2(options?: v2.ClientOptions): StartLoginClient {
  return async (asked) =>
    around(asked, (provider) => {
      const transport = new v2.StreamableHTTPClientTransport(new URL(asked.url), { authProvider: provider });
      const client = new v2.Client(INFO, options);
      return {
        opened: client.connect(transport),
        connection: {
          call: async (name) => textOf(await client.callTool({ name, arguments: {} })),
          finish: (callback) => transport.finishAuth(callback),
          close: () => client.close(),
        },
      };
    });
}

/** The program `mcp-remote`, as a client that knows only stdio starts it. */
export const startMcpRemote: StartLoginClient = async ({ url, port, browse, clientMetadataUrl }) => {
  const folder = await tempFolder();
  // What it opens browsers with: the address is also printed, and whoever reads that is the browser.
  const browser = join(folder.path, 'browser');
  await writeFile(browser, '#!/bin/sh\nexit 0\n');
  await chmod(browser, 0o755);
  const document = clientMetadataUrl === undefined ? [] : ['--client-metadata-url', clientMetadataUrl];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(ROOT, 'node_modules/mcp-remote/dist/proxy.js'), url, `${port}`, '--host', '127.0.0.1', ...document],
    env: {
      PATH: dirname(process.execPath),
      HOME: folder.path,
      BROWSER: browser,
      MCP_REMOTE_CONFIG_DIR: folder.path,
    },
    stderr: 'pipe',
  });
  const isClient = (address: URL): boolean => address.port === `${port}`;
  let printed = '';
  let logins = 0;
  const failures: unknown[] = [];
  transport.stderr?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    const addresses = [...printed.matchAll(/by visiting:\s+(\S+)\s/g)];
    for (const [, address = ''] of addresses.slice(logins)) {
      logins += 1;
      logIn(new URL(address)).catch((error: unknown) => failures.push(error));
    }
  });

  async function logIn(address: URL): Promise<void> {
    const back = await browse(address, isClient);
    // It begins to listen after it has sent the user away, who takes longer than we do.
    const answer = await eventually(
      () => fetch(back).catch(() => undefined),
      (seen) => seen !== undefined,
    );
    if (!answer?.ok) throw new Error(`mcp-remote answered ${answer?.status}: ${await answer?.text()}`);
  }

  async function read(name: string): Promise<Record<string, string>> {
    const files = await readdir(folder.path, { recursive: true });
    const file = files.find((one) => one.endsWith(name));
    if (file === undefined) throw new Error(`mcp-remote keeps no ${name}, only ${files.join(', ')}`);
    return JSON.parse(await readFile(join(folder.path, file), 'utf8'));
  }

  const client = new v2.Client(INFO);
  const dispose = async (): Promise<void> => {
    await client.close();
    await folder[Symbol.asyncDispose]();
  };
  let opening: Promise<void> | undefined;
  return {
    async call(name) {
      try {
        opening ??= client.connect(transport);
        await opening;
        return textOf(await client.callTool({ name, arguments: {} }, { timeout: PATIENCE }));
      } catch (error) {
        throw new Error(`mcp-remote failed: ${failures.join(', ')}\n${printed}`, { cause: error });
      }
    },
    logins: () => logins,
    async credentials() {
      const tokens = await read('tokens.json');
      const clientId = clientMetadataUrl ?? (await read('client_info.json')).client_id;
      return {
        clientId: clientId ?? '',
        accessToken: tokens.access_token ?? '',
        refreshToken: tokens.refresh_token ?? '',
      };
    },
    [Symbol.asyncDispose]: dispose,
  };
};
