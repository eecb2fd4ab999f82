import type { Log } from '../../base/index.ts';
import type { GuardedFetch } from '../../oauth/index.ts';
import type { Limiter } from '../limits.ts';
import { type ClientRules, parseClientMetadata } from './metadata.ts';

/** Clients whose id is the address of a document about them (draft-ietf-oauth-client-id-metadata-document). */
export interface ClientDocuments {
  /** Whether the document may be fetched now. Asked before each fetch: a stranger chose the address. */
  mayFetch(clientId: string): boolean;
  /** In place of the library's own `fetch`. What it gives is not the document but what we took over from it. */
  fetch(url: string | URL, request: { readonly signal?: AbortSignal | null }): Promise<Response>;
}

export interface ClientDocumentParts {
  readonly fetch: GuardedFetch;
  /** Hosts that are asked; all when empty. */
  readonly hosts: readonly string[];
  readonly rules: ClientRules;
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

  return {
    mayFetch(clientId) {
      const url = URL.parse(clientId);
      if (!url || clientId.length > LONGEST_ID || url.protocol !== 'https:' || url.pathname === '/') return false;
      if (allowed.size > 0 && !allowed.has(url.hostname)) return false;
      if ((failed.get(clientId) ?? 0) > now()) return false;
      return perHost.wait(url.hostname) === 0 && inAll.wait('all') === 0;
    },
    async fetch(url, { signal }) {
      try {
        const answer = await fetch(url, { headers: { accept: 'application/json' }, signal: signal ?? null });
        if (answer.status !== 200) throw new Error(`its host answered ${answer.status}`);
        const metadata = await readDocument(answer, String(url), rules);
        return Response.json(metadata, { headers: cachingOf(answer.headers) });
      } catch (error) {
        fail(String(url), error);
        throw error;
      }
    },
  };
}

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
