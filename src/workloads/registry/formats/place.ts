/** A value of a document and where it stands, so that a complaint can say so. */
export interface Place {
  readonly value: unknown;
  readonly path: string;
}

/** What is wrong with one entry. The others of its document are not touched by it. */
export class WrongEntry extends Error {
  constructor({ path }: Place, says: string) {
    super(`${path} ${says}`);
  }
}

export const MAX_TEXT = 8_000;
const MAX_LIST = 500;

export function at({ value, path }: Place, key: string): Place {
  const inside = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return { value: inside ?? undefined, path: `${path}.${key}` };
}

export function object(place: Place): Place | undefined {
  if (place.value === undefined) return undefined;
  if (!isObject(place.value)) throw new WrongEntry(place, 'must be an object');
  return place;
}

export function text(place: Place, limit = MAX_TEXT): string | undefined {
  const { value } = place;
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw new WrongEntry(place, 'must be a text');
  if (value.length > limit) throw new WrongEntry(place, `has more than ${limit} characters`);
  if (value.includes('\0')) throw new WrongEntry(place, 'has a NUL in it');
  return value;
}

export function matching(place: Place, pattern: RegExp, says: string, limit = 200): string | undefined {
  const value = text(place, limit);
  if (value !== undefined && !pattern.test(value)) throw new WrongEntry(place, says);
  return value;
}

export function flag(place: Place): boolean {
  if (place.value === undefined) return false;
  if (typeof place.value !== 'boolean') throw new WrongEntry(place, 'must be true or false');
  return place.value;
}

export function port(place: Place): number | undefined {
  const { value } = place;
  if (value === undefined || value === 0) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536) return value;
  throw new WrongEntry(place, 'must be a port');
}

export function count(place: Place): number | undefined {
  const { value } = place;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new WrongEntry(place, 'must be a whole number');
}

export function list(place: Place, most = MAX_LIST): readonly Place[] {
  const { value, path } = place;
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new WrongEntry(place, 'must be a list');
  if (value.length > most) throw new WrongEntry(place, `has more than ${most} items`);
  return value.map((item: unknown, index) => ({ value: item, path: `${path}[${index}]` }));
}

export function texts(place: Place, limit = 200): readonly string[] {
  return list(place).map((item) => required(item, text(item, limit)));
}

export function required<T>(place: Place, value: T | undefined): T {
  if (value === undefined || value === '') throw new WrongEntry(place, 'is missing');
  return value;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
