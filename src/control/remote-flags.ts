import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { given, SallyError, Secret } from '../base/index.ts';
import { checkRunConfig, type RunConfig } from '../resources/index.ts';
import { checkSecretName, systemName } from '../secrets/index.ts';
import { bearerToken, headerValue, readBearerFile } from './header-values.ts';

/** What the flags of `run` say about the headers that a server elsewhere gets from us. */
export interface RemoteFlags {
  readonly remoteForwardHeaders?: readonly string[];
  readonly remoteForwardHeadersSecret?: readonly string[];
  readonly remoteAuthBearerToken?: string;
  readonly remoteAuthBearerTokenFile?: string;
}

/** Values that were said on a command line, by the names under which a configuration refers to them. */
export type SaidSecrets = ReadonlyMap<string, Secret>;

export interface SaidConfig {
  readonly config: RunConfig;
  readonly said: SaidSecrets;
}

const HEADERS = '--remote-forward-headers';
const HEADERS_SECRET = '--remote-forward-headers-secret';

/**
 * A configuration with what the flags say about the remote server. Values stand nowhere in it: each gets a name of its own, new
 * every time, so that a change can be taken back, and is kept under that name by whoever starts the workload.
 */
export function withRemoteFlags(config: RunConfig, flags: RemoteFlags): SaidConfig {
  const stray = Object.keys(FLAGS).find((name) => flags[name as keyof RemoteFlags] !== undefined);
  const said = new Map<string, Secret>();
  if (stray === undefined) return { config, said };
  if (config.remote_url === undefined) {
    throw wrong(
      `${FLAGS[stray as keyof RemoteFlags]} is for a server at a URL`,
      'leave it out, or run the server by its URL',
    );
  }
  const keep = (key: string, value: string): string => {
    const name = systemName('workload', config.name, `${key}:${randomBytes(4).toString('hex')}`);
    said.set(name, new Secret(value));
    return name;
  };
  const added = headersOf(flags, keep);
  return {
    config: checkRunConfig(
      {
        ...config,
        ...given({
          header_forward: added && withHeaders(config.header_forward, added),
          remote_auth_config: bearerOf(flags, keep),
        }),
      },
      'the command line',
    ),
    said,
  };
}

const FLAGS = {
  remoteForwardHeaders: HEADERS,
  remoteForwardHeadersSecret: HEADERS_SECRET,
  remoteAuthBearerToken: '--remote-auth-bearer-token',
  remoteAuthBearerTokenFile: '--remote-auth-bearer-token-file',
} as const satisfies Record<keyof RemoteFlags, string>;

type Keep = (key: string, value: string) => string;

/** Header → name of a secret; nothing when no flag says one. */
function headersOf(flags: RemoteFlags, keep: Keep): Readonly<Record<string, string>> | undefined {
  const valued = new Map((flags.remoteForwardHeaders ?? []).map((text) => split(text, HEADERS, 'Name=VALUE')));
  const named = new Map(
    (flags.remoteForwardHeadersSecret ?? []).map((text) => split(text, HEADERS_SECRET, 'Name=SECRET-NAME')),
  );
  for (const secret of named.values()) checkSecretName(secret);
  refuseTwice([...named.keys(), ...valued.keys()], flags);
  if (named.size + valued.size === 0) return undefined;
  const kept = [...valued].map(([header, value]) => [header, keep(header, headerValue(header, value))] as const);
  return Object.fromEntries([...named, ...kept]);
}

function bearerOf(flags: RemoteFlags, keep: Keep): RunConfig['remote_auth_config'] {
  const { remoteAuthBearerToken: token, remoteAuthBearerTokenFile: file } = flags;
  if (file !== undefined) {
    readBearerFile(file); // it is read at each start; who makes a mistake should hear of it at once
    return { bearer_token_ref: `file:${resolve(file)}` };
  }
  if (token === undefined) return undefined;
  return { bearer_token_ref: `secret:${keep('bearer-token', bearerToken(token))}` };
}

/** What is said anew takes the place of what was said before, however it was written. */
function withHeaders(
  earlier: RunConfig['header_forward'],
  added: Readonly<Record<string, string>>,
): RunConfig['header_forward'] {
  const names = new Set(Object.keys(added).map((header) => header.toLowerCase()));
  const left = (map: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(map).filter(([header]) => !names.has(header.toLowerCase())));
  return {
    add_plaintext_headers: left(earlier?.add_plaintext_headers),
    add_headers_from_secret: { ...left(earlier?.add_headers_from_secret), ...added },
  };
}

function refuseTwice(headers: readonly string[], flags: RemoteFlags): void {
  const names = headers.map((header) => header.toLowerCase());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw wrong(`the header ${twice} is given twice`, 'give each header once');
  const hasBearer = flags.remoteAuthBearerToken !== undefined || flags.remoteAuthBearerTokenFile !== undefined;
  if (!hasBearer || !names.includes('authorization')) return;
  throw wrong('a bearer token and a header Authorization were given', 'give one of them: the token is that header');
}

/** The text is never repeated: where the name is missing, what is there may be the value. */
function split(text: string, flag: string, form: string): readonly [string, string] {
  const [, header, value] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(text) ?? [];
  if (header === undefined || value === undefined) throw wrong(`${flag} is not ${form}`, `write it as ${form}`);
  return [header, value];
}

function wrong(message: string, hint: string): SallyError {
  return new SallyError('usage.invalid', message, { hint });
}
