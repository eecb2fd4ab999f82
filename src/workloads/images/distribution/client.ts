import { createHash } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import {
  type AddressRange,
  createHttpClient,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  isAllowedAddress,
} from '../../../base/http/index.ts';
import { SallyError } from '../../../base/index.ts';
import type { Environment } from '../../launch.ts';
import { credentialFor } from '../credentials.ts';
import { authorize } from './authorize.ts';
import type { ImageName } from './image-name.ts';

/** Where something lies in a repository, and what its bytes hash to. */
export interface Descriptor {
  readonly mediaType?: string;
  readonly artifactType?: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Bytes of a repository with the digest that we computed of them. */
export interface Fetched {
  readonly digest: string;
  readonly bytes: Buffer;
}

/** One repository of a registry, read only. What is asked for by digest has that digest, or is an error. */
export interface Repository extends AsyncDisposable {
  /** By tag or digest; nothing when it is not there. */
  manifest(reference: string): Promise<Fetched | undefined>;
  blob(descriptor: Descriptor): Promise<Buffer>;
  /** The index of what refers to a digest, in the form of the referrers API; nothing when the registry knows none. */
  referrers(digest: string): Promise<Fetched | undefined>;
}

/** The most that one answer may be; also the largest bundle that is looked at. */
export const MOST_BYTES = 10 * 1024 * 1024;
const ANSWER_WITHIN = 20_000;
const MOST_REDIRECTS = 3;
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

export function openRepository(name: ImageName, env: Environment): Repository {
  const { path } = name;
  const registry = addressOf(name.registry);
  // Whoever named the image chose the registry, in his own network or not. Where a public registry sends us must be public too.
  const own = createHttpClient({ range: 'private', maxAnswer: MOST_BYTES, within: ANSWER_WITHIN });
  let elsewhere: HttpClient | undefined;
  let authorization: string | undefined;

  async function theOther(): Promise<HttpClient> {
    const range = await rangeOf(registry);
    elsewhere ??= createHttpClient({ range, maxAnswer: MOST_BYTES, within: ANSWER_WITHIN });
    return elsewhere;
  }

  async function ask(url: URL, request: HttpRequest): Promise<HttpAnswer> {
    const client = url.origin === registry.origin ? own : await theOther();
    return await client.request(url, request);
  }

  async function get(place: string, accept: string): Promise<HttpAnswer> {
    const url = new URL(place, registry);
    const first = await askRegistry(url, accept);
    if (first.status !== 401 || authorization !== undefined) return await follow(first, url, accept);
    const challenge = String(first.headers['www-authenticate'] ?? '');
    const credential = await credentialFor(`${name.registry}/${path}`, env);
    authorization = await authorize({ registry, challenge, credential, scope: `repository:${path}:pull` }, ask);
    return await follow(await askRegistry(url, accept), url, accept);
  }

  async function askRegistry(url: URL, accept: string): Promise<HttpAnswer> {
    return await ask(url, { method: 'GET', headers: { accept, ...(authorization ? { authorization } : {}) } });
  }

  /** Registries keep blobs elsewhere. Nothing about us goes there, and what comes is held against its digest. */
  async function follow(answer: HttpAnswer, from: URL, accept: string): Promise<HttpAnswer> {
    let [current, at] = [answer, from];
    for (let hops = 0; isRedirect(current.status); hops += 1) {
      const next = URL.parse(String(current.headers.location ?? ''), at.href);
      const isSafe = next?.protocol === 'https:' || next?.origin === registry.origin;
      if (!next || !isSafe || hops === MOST_REDIRECTS) throw failed(name, 'sends us to a place that is not safe');
      at = next;
      current = next.origin === registry.origin ? await askRegistry(next, accept) : await ask(next, plain(accept));
    }
    return current;
  }

  async function fetch(place: string, accept: string, digest?: string): Promise<Fetched | undefined> {
    const { status, bytes } = await get(place, accept);
    if (status === 404) return undefined;
    if (status === 401 || status === 403) throw failed(name, 'does not let us in');
    if (status !== 200) throw failed(name, `answered ${status}`);
    const found = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    if (digest !== undefined && found !== digest) throw failed(name, 'gave out something else than was asked for');
    return { digest: found, bytes };
  }

  return {
    manifest: (reference) =>
      fetch(`/v2/${path}/manifests/${reference}`, MANIFESTS, reference.includes(':') ? reference : undefined),
    async blob({ digest, size }) {
      if (size > MOST_BYTES) throw failed(name, 'has a part that is too large');
      const found = await fetch(`/v2/${path}/blobs/${digest}`, '*/*', digest);
      if (!found) throw failed(name, 'lacks a part that it names');
      return found.bytes;
    },
    async referrers(digest) {
      const listed = await fetch(`/v2/${path}/referrers/${digest}`, MANIFESTS);
      // A registry without that API keeps the same list under a tag (distribution specification, referrers tag schema).
      return listed ?? (await fetch(`/v2/${path}/manifests/${digest.replace(':', '-')}`, MANIFESTS));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([own.close(), elsewhere?.close()]);
    },
  };
}

/** Registries speak TLS. One on this very machine need not, as engines see it too. */
function addressOf(registry: string): URL {
  if (registry === 'docker.io') return new URL('https://registry-1.docker.io');
  const isHere = /^(localhost|127\.[0-9]+\.[0-9]+\.[0-9]+)(:[0-9]+)?$/.test(registry);
  return new URL(`${isHere ? 'http' : 'https'}://${registry}`);
}

async function rangeOf({ hostname }: URL): Promise<AddressRange> {
  const found = await lookup(hostname, { all: true }).catch(() => []);
  return found.some(({ address }) => !isAllowedAddress(address, 'public')) ? 'private' : 'public';
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function plain(accept: string): HttpRequest {
  return { method: 'GET', headers: { accept } };
}

function failed({ registry, path }: ImageName, what: string): SallyError {
  return new SallyError('workload.image_missing', `the registry ${registry} ${what} (${path})`, {
    hint: 'check the name of the image; a private one needs docker login or podman login',
  });
}
