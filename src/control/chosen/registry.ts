import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, SallyError } from '../../base/index.ts';
import { changeSettings, type RegistrySettings, readSettings } from '../../settings/index.ts';
import {
  apiSource,
  catalogueSource,
  createFetch,
  createRegistry,
  type FetchParts,
  fileSource,
  isApiPage,
  jsonUrlSource,
  type Reading,
  type Registry,
  type RegistrySource,
} from '../../workloads/registry/index.ts';

export interface RegistryParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told what the user should know though it is no error: that an old copy is used, for one. */
  readonly notice: (text: string) => void;
}

/** The registry that this user chose; the built-in catalogue when he did not. */
export async function openRegistry(parts: RegistryParts): Promise<Registry> {
  const { registry } = await readSettings(parts.env);
  return createRegistry(sourceFor(registry, parts));
}

/** Tries a registry and remembers it. One that cannot be read is not remembered. */
export async function chooseRegistry(
  where: string,
  allowPrivateIp: boolean,
  parts: RegistryParts,
): Promise<{ readonly label: string; readonly settings: RegistrySettings; readonly reading?: Reading }> {
  const settings = await kindOf(where, allowPrivateIp, parts);
  const source = sourceFor(settings, parts);
  // The whole list of a large registry takes a minute; its first page has been seen.
  const reading = settings.kind === 'api' ? undefined : await source.read({ refresh: true });
  await changeSettings(parts.env, { registry: settings });
  return { label: source.label, settings, ...(reading ? { reading } : {}) };
}

function sourceFor(settings: RegistrySettings | undefined, parts: RegistryParts): RegistrySource {
  switch (settings?.kind) {
    case undefined:
      return catalogueSource;
    case 'file':
      return fileSource(settings.path);
    case 'json':
      return jsonUrlSource(new URL(settings.url), fetchParts(settings.allowPrivateIp, parts));
    case 'api':
      return apiSource(new URL(settings.url), fetchParts(settings.allowPrivateIp, parts));
  }
}

function fetchParts(allowPrivateIp: boolean, { env, notice }: RegistryParts): FetchParts {
  return { allowPrivateIp, notice, cacheFolder: `${cacheFolder(env)}/registry`, now: Date.now };
}

/** A path, a `file:` URL, a JSON document on the network, or a registry with the API: the last two are told apart by asking. */
async function kindOf(where: string, allowPrivateIp: boolean, parts: RegistryParts): Promise<RegistrySettings> {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(where) ? parseUrl(where) : undefined;
  if (!url) return { kind: 'file', path: resolve(where) };
  if (url.protocol === 'file:') return { kind: 'file', path: fileURLToPath(url) };
  const settings = { url: url.href, allowPrivateIp };
  if (url.pathname.endsWith('.json')) return { kind: 'json', ...settings };
  const fetch = createFetch(`the registry ${url.href}`, fetchParts(allowPrivateIp, parts));
  const page = new URL(`${url.href.replace(/\/+$/, '')}/v0.1/servers?limit=1`);
  const isApi = await fetch(page, isApiPage, { refresh: true });
  return { kind: isApi ? 'api' : 'json', ...settings };
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  const usable = url && ['https:', 'http:', 'file:'].includes(url.protocol) && !url.username && !url.password;
  if (usable) return url;
  throw new SallyError('usage.invalid', 'a registry is a file, or an https URL without user and password', {
    hint: 'write https://HOST/PATH, or the path of a file',
  });
}
