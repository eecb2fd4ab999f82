export interface BreakerPlan {
  readonly enabled: boolean;
  /** Failures in a row that open it. */
  readonly threshold: number;
  /** How long it stays open, in milliseconds. */
  readonly timeout: number;
}

/** Keeps calls away from a server that keeps failing, so that they fail at once and the server gets its peace. */
export interface Breaker {
  /** May a call go through? While open, one is let through now and then to see. */
  admits(): boolean;
  succeeded(): void;
  failed(): void;
  readonly open: boolean;
}

export function createBreaker({ enabled, threshold, timeout }: BreakerPlan, now: () => number): Breaker {
  let failures = 0;
  let openedAt: number | undefined;
  let trying = false;
  return {
    get open() {
      return openedAt !== undefined;
    },
    admits() {
      if (!enabled || openedAt === undefined) return true;
      if (trying || now() - openedAt < timeout) return false;
      trying = true;
      return true;
    },
    succeeded() {
      failures = 0;
      openedAt = undefined;
      trying = false;
    },
    failed() {
      failures += 1;
      trying = false;
      if (enabled && (openedAt !== undefined || failures >= threshold)) openedAt = now();
    },
  };
}
