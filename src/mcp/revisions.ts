/** The stateful revisions we speak, newest first. They open with `initialize` and differ little in what a gateway touches. */
export const LEGACY_REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
/** Of servers and clients over HTTP+SSE, and of old servers over stdio. */
export const OLDEST_REVISION = '2024-11-05';
/** The stateless revision: no handshake, metadata on every request. */
export const MODERN_REVISION = '2026-07-28';

export const LATEST_LEGACY = LEGACY_REVISIONS[0];

/** Legacy: `initialize` and sessions. Modern: every request stands for itself. */
export type Era = 'legacy' | 'modern';

export function isLegacyRevision(text: unknown): text is (typeof LEGACY_REVISIONS)[number] {
  return (LEGACY_REVISIONS as readonly unknown[]).includes(text);
}

/** The lifecycle rule of MCP: answer the revision that was asked for if we speak it, else our newest. */
export function agreeOnRevision(asked: unknown): string {
  return isLegacyRevision(asked) || asked === OLDEST_REVISION ? asked : LATEST_LEGACY;
}

/** Revisions are dates, so they compare as texts. */
export function isAtLeast(revision: string, other: string): boolean {
  return revision >= other;
}
