/** Numbers that look random and come again with the same seed. */
export interface Random {
  /** A whole number from 0 up to, and without, `limit`. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
  bytes(length: number): Buffer;
}

/** Mulberry32: small, fast, and good enough to choose what to break next. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number): number => next() % limit;
  return {
    below,
    pick: <T>(choices: readonly T[]): T => choices[below(choices.length)] as T,
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
