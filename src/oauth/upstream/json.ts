/** A JSON object of a provider. Numbers are texts, digit for digit as they were written: an id above 2^53 is still an id. */
export type ProviderObject = Readonly<Record<string, unknown>>;

/** The object that a text holds, or `undefined` when it holds something else. */
export function parseProviderObject(text: string): ProviderObject | undefined {
  try {
    const value: unknown = JSON.parse(text, numbersAsWritten as (key: string, value: unknown) => unknown);
    return isObject(value) && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined; // not JSON: who asked says so in words of his own
  }
}

function numbersAsWritten(_key: string, value: unknown, context: { readonly source: string }): unknown {
  return typeof value === 'number' ? context.source : value;
}

/**
 * What lies at a path such as `authed_user.access_token` or `teams.0.id`. A member whose name has the dots in it comes first.
 * Only what the provider wrote is found, never what objects and arrays have by themselves.
 */
export function valueAt(object: ProviderObject, path: string): unknown {
  if (Object.hasOwn(object, path)) return object[path];
  let value: unknown = object;
  for (const step of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(step)) return undefined;
    value = value[step];
  }
  return value;
}

/** The text at a path, if there is one that is not empty. */
export function textAt(object: ProviderObject, path: string): string | undefined {
  const value = valueAt(object, path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The text at the first path that has one. */
export function firstTextAt(object: ProviderObject, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const text = textAt(object, path);
    if (text !== undefined) return text;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
