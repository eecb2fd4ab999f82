import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A registry in memory, for what a real one does not do on demand: the referrers API, logins by token, blobs that lie elsewhere, bytes
 * that are not what was asked for.
 */
export interface OciServer extends AsyncDisposable {
  /** `127.0.0.1:PORT`, as in an image reference. */
  readonly host: string;
  /** Every request, as `GET /v2/… authorization`. */
  readonly seen: readonly string[];
  readonly manifests: Map<string, Buffer>;
  readonly blobs: Map<string, Buffer>;
  /** Puts bytes where their digest is, and gives it. */
  blob(bytes: Buffer): { readonly digest: string; readonly size: number };
  manifest(content: unknown, tag?: string): { readonly digest: string; readonly size: number };
  /** What refers to a digest. */
  refer(digest: string, manifests: readonly unknown[]): void;
}

export interface OciServerOptions {
  /** Only who shows the token of this user gets in. */
  readonly login?: { readonly username: string; readonly password: string };
  /** Where tokens are given out; here, when it is not said. */
  readonly realm?: string;
  /** Where blobs are said to lie. */
  readonly blobsAt?: string;
}

const TOKEN = 'a-token-of-the-registry';

export async function startOciServer({ login, realm, blobsAt }: OciServerOptions = {}): Promise<OciServer> {
  const manifests = new Map<string, Buffer>();
  const blobs = new Map<string, Buffer>();
  const referrers = new Map<string, Buffer>();
  const seen: string[] = [];
  let host = '';

  function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): ServerResponse {
    seen.push(`GET ${url} ${headers.authorization ?? '-'}`);
    const [, kind = '', key = ''] = /\/(manifests|blobs|referrers)\/([^/?]+)/.exec(url) ?? [];
    if (url.startsWith('/token')) {
      const basic = `Basic ${Buffer.from(`${login?.username}:${login?.password}`).toString('base64')}`;
      if (headers.authorization !== basic) return end(response, 401);
      return end(response, 200, Buffer.from(JSON.stringify({ token: TOKEN })));
    }
    if (url.startsWith('/elsewhere/')) return end(response, 200, blobs.get(url.slice('/elsewhere/'.length)));
    if (login && headers.authorization !== `Bearer ${TOKEN}`) {
      const place = realm ?? `http://${host}/token`;
      response.setHeader('www-authenticate', `Bearer realm="${place}",service="tests"`);
      return end(response, 401);
    }
    if (kind === 'blobs' && blobsAt !== undefined) {
      response.setHeader('location', `${blobsAt.replace('HERE', host)}/${key}`);
      return end(response, 307);
    }
    const found = { manifests, blobs, referrers }[kind]?.get(key);
    return end(response, found ? 200 : 404, found);
  }

  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const put = (where: Map<string, Buffer>, bytes: Buffer, ...names: readonly string[]) => {
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    for (const name of [digest, ...names]) where.set(name, bytes);
    return { digest, size: bytes.length };
  };
  return {
    get host() {
      return host;
    },
    seen,
    manifests,
    blobs,
    blob: (bytes) => put(blobs, bytes),
    manifest: (content, tag) =>
      put(manifests, Buffer.from(JSON.stringify(content)), ...(tag === undefined ? [] : [tag])),
    refer: (digest, list) => void referrers.set(digest, Buffer.from(JSON.stringify({ manifests: list }))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function end(response: ServerResponse, status: number, bytes?: Buffer): ServerResponse {
  response.statusCode = status;
  return response.end(bytes);
}
