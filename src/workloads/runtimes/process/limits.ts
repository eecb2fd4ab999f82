/** How much patience a server gets. */
export interface Limits {
  /** Failed runs in a row that are followed by another try. */
  readonly restarts: number;
  /** The pause before the first restart; it doubles with each failure in a row. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** A run this long was a good one: the count of failures starts anew. */
  readonly stableAfterMs: number;
  /** From the end of its stdin to SIGTERM. */
  readonly stdinGraceMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly termGraceMs: number;
  /** The longest line on stdout. */
  readonly lineBytes: number;
  /** What may wait to be read by the server; more means that it does not read any more. */
  readonly unreadBytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  restarts: 9, // The tenth failed run in a row is the last.
  firstPauseMs: 250,
  longestPauseMs: 30_000,
  stableAfterMs: 30_000,
  stdinGraceMs: 500,
  termGraceMs: 2_000,
  lineBytes: 16 * 1024 * 1024,
  unreadBytes: 64 * 1024 * 1024,
};

/** The pause after so many failures in a row. The jitter keeps servers that fell together from rising together. */
export function pauseAfter(failures: number, limits: Limits, random: () => number): number {
  const full = Math.min(limits.longestPauseMs, limits.firstPauseMs * 2 ** (failures - 1));
  return full * (0.5 + random() / 2);
}
