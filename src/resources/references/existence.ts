import { kindOf, type Resource } from '../kinds/all.ts';
import { isTextUnder, secretKeys } from '../secret-values.ts';
import { type ReferredKind, referredKind } from '../traits.ts';
import { didYouMean } from '../validate/explain.ts';
import { type FieldPath, walk } from '../walk.ts';
import type { ReferenceFinding, Scope } from './check.ts';

interface Reference {
  readonly kind: ReferredKind;
  readonly name: string;
  readonly key: string | undefined;
  readonly path: FieldPath;
}

/** Every reference names something that is there, and a reference to a key names a key that is there. */
export function* checkExistence(scope: Scope): Generator<ReferenceFinding> {
  for (const resource of scope.set.all) {
    for (const reference of referencesOf(resource)) {
      const finding = whyMissing(scope, resource.metadata.namespace, reference);
      if (finding) yield { resource, ...finding };
    }
  }
}

/** Every place where a resource names another. */
export function* referencesOf(resource: Resource): Generator<Reference> {
  for (const { schema, value, path } of walk(kindOf(resource.kind).body, resource)) {
    const kind = referredKind(schema);
    if (!kind) continue;
    const { name, key } = value as { name: string; key?: string };
    yield { kind, name, key, path };
  }
  if (resource.kind === 'MCPServer' && resource.spec.permissionProfile?.type === 'configmap') {
    const { name, key } = resource.spec.permissionProfile;
    yield { kind: 'ConfigMap', name, key, path: ['spec', 'permissionProfile'] };
  }
}

function whyMissing(
  scope: Scope,
  namespace: string,
  reference: Reference,
): Omit<ReferenceFinding, 'resource'> | undefined {
  const { kind, name, key, path } = reference;
  const place = kind === 'Secret' && key !== undefined ? { namespace, name, key } : undefined;
  if (place && scope.secretExists(place)) return undefined;

  const target = scope.set.find(kind, namespace, name);
  if (!target) {
    if (scope.isDeclared(kind, namespace, name)) return undefined;
    const known = scope.set.all.filter((one) => one.kind === kind && one.metadata.namespace === namespace);
    const names = known.map((one) => one.metadata.name);
    const hint = place && !didYouMean(name, names).hint ? { hint: scope.secretHint(place) } : didYouMean(name, names);
    return { path: [...path, 'name'], message: `names no ${kind} of namespace \`${namespace}\``, ...hint };
  }
  const keys = keysOf(target);
  if (key === undefined) return undefined;
  if (keys.includes(key))
    return target.kind === 'Secret' && !isTextUnder(target, key) ? notText(path, name) : undefined;
  const hint = keys.length === 0 ? 'it has no keys' : `it has: ${keys.join(', ')}`;
  return { path: [...path, 'key'], message: `is not a key of ${kind}/${name}`, hint };
}

function notText(path: FieldPath, name: string): Omit<ReferenceFinding, 'resource'> {
  const message = `names bytes of Secret/${name} that are not text in UTF-8`;
  return {
    path: [...path, 'key'],
    message,
    hint: 'encode a key of random bytes as base64 text before it goes into the Secret',
  };
}

function keysOf(target: Resource): readonly string[] {
  if (target.kind === 'Secret') return secretKeys(target);
  return target.kind === 'ConfigMap' ? Object.keys(target.data ?? {}) : [];
}
