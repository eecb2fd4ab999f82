import type { Declaration, LocalWay, Permissions, RegistryEntry, RemoteWay, Way } from '../entry.ts';

/** Short forms in which the catalogue is written. */

export function server(
  name: string,
  description: string,
  tags: readonly string[],
  ways: readonly Way[],
  more: Partial<Pick<RegistryEntry, 'repository' | 'tools' | 'tier'>> = {},
): RegistryEntry {
  return { name, description, tags, ways, status: 'active', tier: 'community', tools: [], refused: [], ...more };
}

type LocalDetails = Partial<Pick<LocalWay, 'args' | 'missingArgs' | 'env' | 'permissions'>>;

/** A program of npm or PyPI, in the version that was current when the entry was written. */
export function program(reference: string, details: LocalDetails = {}): LocalWay {
  return { kind: 'package', server: reference, transport: 'stdio', args: [], missingArgs: [], env: [], ...details };
}

export function image(reference: string, details: LocalDetails = {}): LocalWay {
  return { ...program(reference, details), kind: 'image' };
}

export function remote(url: string, headers: readonly Declaration[] = []): RemoteWay {
  return { kind: 'remote', server: url, transport: 'streamable-http', headers, env: [] };
}

export function secret(name: string, description: string, required = true): Declaration {
  return { name, description, required, secret: true };
}

export function setting(name: string, description: string, required = false): Declaration {
  return { name, description, required, secret: false };
}

/** Nothing outside the container. */
export const OFFLINE: Permissions = { network: { outbound: {} } };
/** Any host: for servers whose purpose is to look around. */
export const ANYWHERE: Permissions = { network: { outbound: { insecure_allow_all: true } } };

/** Only these hosts, over TLS. A leading dot means all names below. */
export function hosts(...allow_host: readonly string[]): Permissions {
  return { network: { outbound: { allow_host, allow_port: [443] } } };
}
