import { isUtf8 } from 'node:buffer';
import { Secret } from '../base/index.ts';
import type { ResourceOf } from './kinds/all.ts';
import type { ResourceSet } from './resource-set.ts';

/** One value of one Secret. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** The value that a Secret resource holds under a key, or `undefined` when no resource does. */
export function secretFromResources(set: ResourceSet, place: SecretPlace): Secret | undefined {
  const resource = set.find('Secret', place.namespace, place.name);
  // Keys come from manifests: `constructor` is a key like any other, and not one that every object has.
  const own = (values: Readonly<Record<string, string>> = {}): string | undefined =>
    Object.hasOwn(values, place.key) ? values[place.key] : undefined;

  const text = own(resource?.stringData);
  if (text !== undefined) return new Secret(text);
  const encoded = own(resource?.data);
  return encoded === undefined ? undefined : new Secret(Buffer.from(encoded, 'base64').toString('utf8'));
}

/** Whether a key holds text. Bytes that are none would all become one character, and a key of noise would lose most of it. */
export function isTextUnder(resource: ResourceOf<'Secret'>, key: string): boolean {
  if (Object.hasOwn(resource.stringData ?? {}, key)) return true;
  return isUtf8(Buffer.from(resource.data?.[key] ?? '', 'base64'));
}

export function secretKeys(resource: ResourceOf<'Secret'>): readonly string[] {
  return [...new Set([...Object.keys(resource.stringData ?? {}), ...Object.keys(resource.data ?? {})])];
}
