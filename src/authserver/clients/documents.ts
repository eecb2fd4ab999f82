import type { Log } from '../../base/index.ts';
import type { GuardedFetch } from '../../oauth/index.ts';
import type { Limiter } from '../limits.ts';
import type { KeptDocuments } from './kept-documents.ts';
import { type ClientRules, parseClientMetadata } from './metadata.ts';

/** Clients whose id is the address of a document about them (draft-ietf-oauth-client-id-metadata-document). */
export interface ClientDocuments {
  /** Whether it is worth an attempt. Asked before each fetch: a stranger chose the address. */
  mayFetch(clientId: string): boolean;
  /** In place of the library's own `fetch`. What it gives is not the document but what we took over from it. */
  fetch(url: string | URL, request: { readonly signal?: AbortSignal | null }): Promise<Response>;
}

export interface ClientDocumentParts {
  readonly fetch: GuardedFetch;
  /** Hosts that are asked; all when empty. */
  readonly hosts: readonly string[];
  readonly rules: ClientRules;
  readonly kept: KeptDocuments;
  readonly perHost: Limiter;
  readonly inAll: Limiter;
  readonly log: Log;
  readonly now: () => number;
}

const LONGEST_ID = 1024;
/** The library looks a client up again to report that it did not find it, which must not cost its host a second request. */
const FAILED_FOR = 2_000;
const MOST_FAILURES = 1_000;

export function createClientDocuments({
  fetch,
  hosts,
  rules,
  kept,
  perHost,
  inAll,
  log,
  now,
}: ClientDocumentParts): ClientDocuments {
  const allowed = new Set(hosts.map((host) => host.toLowerCase()));
  const failed = new Map<string, number>();

  function fail(clientId: string, error: unknown): void {
    log.debug('a client metadata document was refused', { client: clientId, error });
    failed.delete(clientId);
    failed.set(clientId, now() + FAILED_FOR);
    if (failed.size > MOST_FAILURES) failed.delete(failed.keys().next().value as string);
  }

  async function read(clientId: string, signal: AbortSignal | null): Promise<Response> {
    if (perHost.wait(new URL(clientId).hostname) > 0 || inAll.wait('all') > 0) {
      throw new NotNow('enough documents are being fetched');
    }
    const request = { headers: { accept: 'application/json' }, signal };
    const answer = await fetch(clientId, request).catch((error: unknown) => {
      throw new NotNow('its host cannot be reached', { cause: error });
    });
    if (answer.status >= 500 || answer.status === 429) throw new NotNow(`its host answered ${answer.status}`);
    if (answer.status !== 200) throw new Error(`its host answered ${answer.status}`);
    const metadata = await readDocument(answer, clientId, rules);
    kept.fetched(clientId, metadata);
    return Response.json(metadata, { headers: cachingOf(answer.headers) });
  }

  return {
    mayFetch(clientId) {
      const url = URL.parse(clientId);
      if (!url || clientId.length > LONGEST_ID || url.protocol !== 'https:' || url.pathname === '/') return false;
      if (allowed.size > 0 && !allowed.has(url.hostname)) return false;
      return (failed.get(clientId) ?? 0) <= now();
    },
    async fetch(url, { signal }) {
      const clientId = String(url);
      try {
        return await read(clientId, signal ?? null);
      } catch (error) {
        // What the host says of the client counts; that it says nothing does not.
        const known = error instanceof NotNow ? await kept.find(clientId) : undefined;
        if (known) return Response.json(known);
        fail(clientId, error);
        throw error;
      }
    },
  };
}

/** Says nothing about the client. */
class NotNow extends Error {}

async function readDocument(answer: Response, clientId: string, rules: ClientRules): Promise<object> {
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(answer.headers.get('content-type') ?? '')) {
    throw new Error('it does not say that it is JSON');
  }
  const document = (await answer.json()) as Readonly<Record<string, unknown>>;
  const metadata = parseClientMetadata(document, rules);
  if (metadata.client_name === undefined) throw new Error('it has no client_name');
  for (const member of ['client_secret', 'client_secret_expires_at']) {
    if (member in document) throw new Error(`it has a ${member}, which everybody can read`);
  }
  if (document.client_id !== clientId) throw new Error('it is about another client');
  return { ...metadata, client_id: clientId };
}

/** For the library, which remembers a document as long as its host says, within bounds. */
function cachingOf(headers: Headers): Record<string, string> {
  const names = ['cache-control', 'expires'];
  return Object.fromEntries(names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])));
}
