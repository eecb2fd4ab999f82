import type { HttpAnswer, HttpClient } from '../../../base/http/index.ts';
import { printable, SallyError } from '../../../base/index.ts';
import { MAX_BYTES } from '../formats/document.ts';
import { type Copy, createCache } from './cache.ts';
import type { ReadOptions } from './source.ts';

export interface FetchParts {
  readonly cacheFolder: string;
  /** Addresses of the own network may be asked, and without TLS. */
  readonly allowPrivateIp: boolean;
  /** Told when an old copy has to do. */
  readonly notice: (text: string) => void;
  readonly now: () => number;
  readonly within?: number;
}

/** What `read` makes of the text at a URL, or `undefined` when the server says that there is none. */
export type Fetch = <T>(url: URL, read: (text: string) => T, options?: ReadOptions) => Promise<T | undefined>;

/** A copy this young is used without asking. */
const FRESH = 5 * 60_000;
const WITHIN = 20_000;

/**
 * Gets documents of a registry: through the guarded client, with a copy on the disk. A copy is checked with its ETag, and used
 * as it is while the registry has a problem that may pass. One that refuses us is heard, not covered up.
 */
export function createFetch(label: string, parts: FetchParts): Fetch {
  const { notice, now } = parts;
  const cache = createCache(parts.cacheFolder, now);
  let client: Promise<HttpClient> | undefined;
  return async (url, read, { refresh = false } = {}) => {
    refuseScheme(url, label, parts.allowPrivateIp);
    const copy = await cache.get(url.href);
    if (copy && !refresh && now() - copy.fetchedAt < FRESH) return read(copy.body);
    let answer: HttpAnswer;
    try {
      client ??= openClient(parts);
      answer = await request(await client, url, copy);
      if (isPassing(answer.status))
        throw new SallyError('fetch.unreachable', `it answers with status ${answer.status}`);
    } catch (error) {
      if (!copy || !isTransient(error)) throw unavailable(label, error);
      notice(`${label} does not answer; a copy of ${new Date(copy.fetchedAt).toISOString().slice(0, 16)}Z is used`);
      return read(copy.body);
    }
    const next = copyOf(url, answer, copy, now());
    if (next === 'none') return undefined;
    if (next === 'refused') throw refusal(label, answer.status, answer.headers.location);
    const value = read(next.body); // first: what cannot be read is not worth a copy
    await cache.put(next);
    return value;
  };
}

function copyOf(
  url: URL,
  { status, headers, bytes }: HttpAnswer,
  old: Copy | undefined,
  now: number,
): Copy | 'none' | 'refused' {
  if (status === 304 && old) return { ...old, fetchedAt: now };
  if (status === 404) return 'none';
  if (status !== 200) return 'refused';
  const { etag, 'last-modified': lastModified } = headers;
  const tags = { ...(etag ? { etag } : {}), ...(lastModified ? { lastModified } : {}) };
  return { url: url.href, fetchedAt: now, body: bytes.toString('utf8'), ...tags };
}

/** Loaded when there is something to fetch. Idle connections do not keep the process alive, so nobody has to close it. */
async function openClient({ allowPrivateIp, within = WITHIN }: FetchParts): Promise<HttpClient> {
  const { createHttpClient } = await import('../../../base/http/index.ts');
  return createHttpClient({
    range: allowPrivateIp ? 'private' : 'public',
    maxAnswer: MAX_BYTES,
    within,
  });
}

async function request(client: HttpClient, url: URL, copy: Copy | undefined): Promise<HttpAnswer> {
  const answer = await client.request(url, {
    method: 'GET',
    headers: {
      accept: 'application/json',
      ...(copy?.etag ? { 'if-none-match': copy.etag } : {}),
      ...(copy?.lastModified && !copy.etag ? { 'if-modified-since': copy.lastModified } : {}),
    },
  });
  if (answer.stream) throw new SallyError('registry.invalid', 'it answers with an event stream');
  return answer;
}

function refuseScheme(url: URL, label: string, allowPrivateIp: boolean): void {
  if (url.protocol === 'https:' || (allowPrivateIp && url.protocol === 'http:')) return;
  throw new SallyError('registry.unavailable', `${label} is not asked over ${url.protocol}//`, {
    hint: 'use https; a registry of your own network needs --allow-private-ip, which allows http as well',
  });
}

function isPassing(status: number): boolean {
  return status === 429 || status >= 500;
}

function isTransient(error: unknown): boolean {
  return error instanceof SallyError && (error.code === 'fetch.unreachable' || error.code === 'fetch.timeout');
}

function unavailable(label: string, cause: unknown): SallyError {
  const own = cause instanceof SallyError && cause.code === 'fetch.address_refused';
  return new SallyError('registry.unavailable', `${label} cannot be read`, {
    cause,
    hint: own
      ? 'a registry of your own network needs sally config set-registry --allow-private-ip'
      : 'try again later, or see sally config get-registry',
  });
}

function refusal(label: string, status: number, location: string | undefined): SallyError {
  const moved = status >= 300 && status < 400 && location;
  return new SallyError('registry.unavailable', `${label} answers with status ${status}`, {
    hint: moved
      ? `redirects are not followed; choose ${printable(location, 300)} with sally config set-registry`
      : 'see sally config get-registry; a registry that asks for a login cannot be used yet',
  });
}
