/**
 * Remembers the most recently used, in bounded room. Two halves: what is used moves to the young one; when that is full it
 * becomes the old one, and the old one is forgotten. A hit among the young costs one lookup and moves nothing.
 */
export interface Recent<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
}

export function createRecent<V>(limit: number): Recent<V> {
  let young = new Map<string, V>();
  let old = new Map<string, V>();

  function set(key: string, value: V): void {
    young.set(key, value);
    if (young.size * 2 < limit) return;
    old = young;
    young = new Map();
  }

  return {
    get(key) {
      const found = young.get(key);
      if (found !== undefined) return found;
      const aged = old.get(key);
      if (aged !== undefined) set(key, aged);
      return aged;
    },
    set,
  };
}
