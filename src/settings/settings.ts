import { isAbsolute } from 'node:path';
import { SallyError, suggest } from '../base/index.ts';

export const PROVIDERS = ['encrypted', 'keyring', 'environment', '1password'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** Where the password of the encrypted file is kept: in the keyring of the system, in a file, or in a person's head. */
export type KeySource = 'keyring' | 'file' | 'password';
const KEY_SOURCES: readonly KeySource[] = ['keyring', 'file', 'password'];

export interface SecretSettings {
  readonly provider: ProviderName;
  readonly key?: KeySource;
}

export type RegistrySettings =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'json' | 'api'; readonly url: string; readonly allowPrivateIp: boolean };

export interface Settings {
  /** Absent until somebody chose. */
  readonly secrets?: SecretSettings;
  /** Absent means the built-in catalogue. */
  readonly registry?: RegistrySettings;
}

/** Reads what we know out of the document. What we do not know may belong to a newer version and is left alone. */
export function parseSettings(document: unknown, file: string): Settings {
  const wrong = (field: string, says: string): SallyError =>
    new SallyError('config.invalid', `${file}: ${field} ${says}`, {
      hint: 'correct the file, or delete that part of it',
    });
  if (document === null || document === undefined) return {};
  if (!isObject(document)) throw wrong('the document', 'must be a mapping');
  const { secrets, registry } = document;
  return {
    ...(secrets === undefined ? {} : { secrets: parseSecrets(secrets, wrong) }),
    ...(registry === undefined ? {} : { registry: parseRegistry(registry, wrong) }),
  };
}

type Wrong = (field: string, says: string) => SallyError;

function parseSecrets(value: unknown, wrong: Wrong): SecretSettings {
  if (!isObject(value)) throw wrong('secrets', 'must be a mapping');
  const provider = PROVIDERS.find((name) => name === value.provider);
  if (!provider) throw wrong('secrets.provider', `must be one of ${PROVIDERS.join(', ')}${meant(value.provider)}`);
  if (value.key === undefined) return { provider };
  const key = KEY_SOURCES.find((name) => name === value.key);
  if (!key) throw wrong('secrets.key', `must be one of ${KEY_SOURCES.join(', ')}`);
  return { provider, key };
}

function parseRegistry(value: unknown, wrong: Wrong): RegistrySettings {
  if (!isObject(value)) throw wrong('registry', 'must be a mapping');
  const { kind, path, url, allowPrivateIp = false } = value;
  if (kind === 'file') {
    if (typeof path !== 'string' || !isAbsolute(path)) throw wrong('registry.path', 'must be an absolute path');
    return { kind, path };
  }
  if (kind !== 'json' && kind !== 'api') throw wrong('registry.kind', 'must be file, json or api');
  if (typeof url !== 'string' || URL.parse(url) === null) throw wrong('registry.url', 'must be a URL');
  if (typeof allowPrivateIp !== 'boolean') throw wrong('registry.allowPrivateIp', 'must be true or false');
  return { kind, url, allowPrivateIp };
}

function meant(word: unknown): string {
  const close = typeof word === 'string' ? suggest(word, PROVIDERS) : undefined;
  return close ? `; did you mean ${close}?` : '';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
