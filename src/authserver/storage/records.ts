import { createHmac, createSecretKey } from 'node:crypto';
import { createSealer } from '../../base/index.ts';
import { createRecent } from '../../oauth/index.ts';
import type { ServerSecrets } from '../secrets.ts';
import type { Store } from './store.ts';

/** A row as it was read; `swap` replaces it only if nobody else did in the meantime. */
export interface Found<T> {
  readonly value: T;
  readonly version: Version;
}

/** Where a row lies and what lay there. Opaque to everybody but the rows that gave it out. */
export interface Version {
  readonly key: string;
  readonly text: string;
}

export interface RowOptions {
  /** Seconds the row lives. */
  readonly ttl: number;
  /** The groups the row is removed with, such as its grant. */
  readonly groups?: readonly RowGroup[];
}

/** Rows of one kind: JSON values under an id, which is stored nowhere. Ids may be secrets, such as codes and tokens. */
export interface Rows<T> {
  get(id: string): Promise<T | undefined>;
  find(id: string): Promise<Found<T> | undefined>;
  /** Whether there is a row; answers at once where the store does. */
  has(id: string): boolean | Promise<boolean>;
  put(id: string, value: T, options: RowOptions): Promise<void>;
  /** Writes unless there is a row, and says whether it did. */
  add(id: string, value: T, options: RowOptions): Promise<boolean>;
  /** Writes if the row is still as it was found, and says whether it did. */
  swap(version: Version, value: T, options: RowOptions): Promise<boolean>;
  /** Gives a row and removes it: of several takers one gets it. */
  take(id: string): Promise<T | undefined>;
  /** Removes a row, and what these groups know of it. */
  remove(id: string, groups?: readonly RowGroup[]): Promise<void>;
  /** The rows of this kind in a group, in no order. What is not there any more is left out. */
  each(group: RowGroup): AsyncGenerator<T>;
}

/** Rows that end together, or are found together. */
export interface RowGroup {
  /** The storage key of the group; the first is for writing. */
  readonly keys: readonly [string, ...string[]];
}

/**
 * Sealed rows over a store. A row lies under `<kind>:<HMAC of kind and id>`, and its value is sealed with a key of the same
 * secret for that very place: without the secret nothing stored can be found, read, or moved to another row.
 */
export interface Records {
  rows<T>(kind: string): Rows<T>;
  group(kind: string, id: string): RowGroup;
  /** How many rows the group knows, those included that are gone without its knowledge. */
  sizeOf(group: RowGroup): Promise<number>;
  /** Removes every row of the group, of whatever kind. */
  removeGroup(group: RowGroup): Promise<void>;
}

const RECENT = 10_000;
/** How many rows of a group are asked for at a time. */
const AT_ONCE = 50;

interface Place {
  readonly key: string;
  readonly keyId: string;
  readonly sealKey: Buffer;
}

export function createRecords(store: Store, secrets: ServerSecrets): Records {
  const sealKeys = secrets.derive('row values');
  const keyIds = secrets.derive('row key ids').map((key) => key.toString('base64url', 0, 6));
  const [first, ...older] = secrets.derive('row places').map((lookupKey, index) => ({
    lookupKey: createSecretKey(lookupKey),
    sealKey: sealKeys[index] as Buffer,
    keyId: keyIds[index] as string,
  }));
  type SecretKeys = NonNullable<typeof first>;
  const newest = first as SecretKeys;

  function keyUnder({ lookupKey }: SecretKeys, kind: string, id: string): string {
    return `${kind}:${createHmac('sha256', lookupKey)
      .update(JSON.stringify([kind, id]))
      .digest('base64url')}`;
  }

  const placeUnder = (keys: SecretKeys, kind: string, id: string): Place => ({
    key: keyUnder(keys, kind, id),
    keyId: keys.keyId,
    sealKey: keys.sealKey,
  });
  const placeOf = (kind: string, id: string): Place => placeUnder(newest, kind, id);
  const olderPlaces = (kind: string, id: string): Place[] => older.map((keys) => placeUnder(keys, kind, id));

  async function join(key: string, { groups = [], ttl }: RowOptions): Promise<void> {
    for (const group of groups) await store.join(group.keys[0], key, ttl);
  }

  function rows<T>(kind: string): Rows<T> {
    async function find(id: string): Promise<Found<T> | undefined> {
      for (const place of [placeOf(kind, id), ...olderPlaces(kind, id)]) {
        const text = await store.get(place.key);
        const opened = text === undefined ? undefined : open(place, text);
        if (text !== undefined && opened) return { value: opened.value as T, version: { key: place.key, text } };
      }
      return undefined;
    }

    /** Of rows that are only asked about: boundary 1 does so for every call, with the same few ids. */
    const recent = createRecent<readonly [string, ...string[]]>(RECENT);
    function keysOf(id: string): readonly [string, ...string[]] {
      const known = recent.get(id);
      if (known) return known;
      const keys = [placeOf(kind, id).key, ...olderPlaces(kind, id).map(({ key }) => key)] as const;
      recent.set(id, keys);
      return keys;
    }

    return {
      find,
      get: async (id) => (await find(id))?.value,
      has(id) {
        const [key, ...others] = keysOf(id);
        // In memory the answer has to be there at once, so nothing is awaited that is no promise.
        return others.reduce((found, other) => either(found, () => store.has(other)), store.has(key));
      },
      async put(id, value, options) {
        const place = placeOf(kind, id);
        // The group first: a row that its group does not know would survive the end of its grant.
        await join(place.key, options);
        await store.set(place.key, seal(place, value), options.ttl);
        if (older.length > 0) await store.remove(olderPlaces(kind, id).map(({ key }) => key));
      },
      async add(id, value, options) {
        if (older.length > 0 && (await find(id))) return false;
        const place = placeOf(kind, id);
        await join(place.key, options);
        return store.add(place.key, seal(place, value), options.ttl);
      },
      async swap({ key, text }, value, options) {
        const place = { key, ...ofKeyId(keyIdOf(text)) };
        await join(key, options);
        return store.swap(key, text, seal(place, value), options.ttl);
      },
      async take(id) {
        for (const place of [placeOf(kind, id), ...olderPlaces(kind, id)]) {
          const text = await store.take(place.key);
          const opened = text === undefined ? undefined : open(place, text);
          if (opened) return opened.value as T;
        }
        return undefined;
      },
      async remove(id, groups = []) {
        const keys = [placeOf(kind, id), ...olderPlaces(kind, id)].map(({ key }) => key);
        await store.remove(keys);
        for (const group of groups.flatMap((one) => one.keys)) for (const key of keys) await store.leave(group, key);
      },
      async *each(group) {
        const keys = (await membersOf(group)).filter((key) => key.startsWith(`${kind}:`));
        for (let from = 0; from < keys.length; from += AT_ONCE) {
          const some = keys.slice(from, from + AT_ONCE);
          const texts = await Promise.all(some.map((key) => store.get(key)));
          for (const [index, text] of texts.entries()) {
            const place = text === undefined ? undefined : findKeys(keyIdOf(text));
            const opened = place && open({ ...place, key: some[index] as string }, text as string);
            if (opened) yield opened.value as T;
          }
        }
      },
    };
  }

  async function membersOf(group: RowGroup): Promise<readonly string[]> {
    return [...new Set((await Promise.all(group.keys.map((key) => store.members(key)))).flat())];
  }

  function findKeys(keyId: string): SecretKeys | undefined {
    return [newest, ...older].find((candidate) => candidate.keyId === keyId);
  }

  function ofKeyId(keyId: string): Omit<Place, 'key'> {
    const keys = findKeys(keyId);
    if (!keys) throw new Error('a version belongs to the records that gave it out');
    return keys;
  }

  return {
    rows,
    group(kind, id) {
      const [writing, ...reading] = [newest, ...older].map((keys) => keyUnder(keys, `${kind}-rows`, id));
      return { keys: [writing as string, ...reading] };
    },
    sizeOf: async (group) => (await membersOf(group)).length,
    async removeGroup(group) {
      for (const key of group.keys) {
        const members = await store.members(key);
        await store.remove(members);
        for (const member of members) await store.leave(key, member);
      }
    },
  };
}

function either(
  first: boolean | Promise<boolean>,
  second: () => boolean | Promise<boolean>,
): boolean | Promise<boolean> {
  if (typeof first === 'boolean') return first || second();
  return first.then((found) => found || second());
}

function seal({ key, keyId, sealKey }: Place, value: unknown): string {
  return `${keyId}.${createSealer(sealKey, key).seal({ value })}`;
}

function open({ key, keyId, sealKey }: Place, text: string): { readonly value: unknown } | undefined {
  if (keyIdOf(text) !== keyId) return undefined;
  return createSealer(sealKey, key).open(text.slice(keyId.length + 1)) as { readonly value: unknown } | undefined;
}

function keyIdOf(text: string): string {
  return text.slice(0, text.indexOf('.'));
}
