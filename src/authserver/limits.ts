/** So many at once, and then so many in a second. */
export interface Limit {
  readonly burst: number;
  readonly perSecond: number;
}

/** Counts what somebody does, by a name of his. */
export interface Limiter {
  /** 0 when he may go on, which is counted; otherwise the seconds he should wait. */
  wait(name: string): number;
}

interface Bucket {
  tokens: number;
  at: number;
}

const MOST_NAMES = 10_000;

/** A token bucket for each name. When there are too many names, the one that was quiet for the longest time is forgotten. */
export function createLimiter({ burst, perSecond }: Limit, now: () => number, mostNames = MOST_NAMES): Limiter {
  const buckets = new Map<string, Bucket>();
  return {
    wait(name) {
      const time = now();
      const known = buckets.get(name);
      const tokens = known ? Math.min(burst, known.tokens + ((time - known.at) / 1000) * perSecond) : burst;
      const mayGoOn = tokens >= 1;
      buckets.delete(name); // and to the end, as the one that came last
      buckets.set(name, { tokens: mayGoOn ? tokens - 1 : tokens, at: time });
      if (buckets.size > mostNames) buckets.delete(buckets.keys().next().value as string);
      return mayGoOn ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond));
    },
  };
}
