/** Each thing is told once in this many milliseconds. */
const EVERY = 60_000;
const MAX_THINGS = 1_000;

/**
 * Keeps a log short that anybody can write to by knocking. Gives how often the same thing happened since it was last told, or
 * `undefined` when it was told a moment ago.
 */
export function createSeldom(now: () => number): (thing: string) => number | undefined {
  const told = new Map<string, { readonly at: number; kept: number }>();
  return (thing) => {
    const last = told.get(thing);
    if (last && now() - last.at < EVERY) {
      last.kept += 1;
      return undefined;
    }
    if (told.size >= MAX_THINGS) told.clear();
    told.set(thing, { at: now(), kept: 0 });
    return last?.kept ?? 0;
  };
}
