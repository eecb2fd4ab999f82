import { z } from 'zod';
import type { Rule } from '../traits.ts';

/** How a backend speaks: found out, or pinned. */
export const BackendRevision = z.enum(['auto', 'legacy', '2026-07-28']);
export type BackendRevision = z.output<typeof BackendRevision>;

/** The field as the kinds of backends have it. */
export const revisionField = BackendRevision.default('auto').describe(
  'Which MCP the server speaks. `auto` asks it once and remembers the answer until the server contradicts it. `legacy` (the revisions with a session, up to 2025-11-25) and `2026-07-28` skip the question.',
);

/** HTTP+SSE went out of the protocol in 2025: a newer revision over it does not exist. */
export function revisionFitsTransport<
  T extends { readonly transport: string; readonly revision: BackendRevision },
>(): Rule<T> {
  return {
    at: 'revision',
    says: 'must not be 2026-07-28 when transport is sse: that transport ended before that revision',
    holds: ({ transport, revision }) => transport !== 'sse' || revision !== '2026-07-28',
    cel: "self.transport != 'sse' || self.revision != '2026-07-28'",
  };
}
