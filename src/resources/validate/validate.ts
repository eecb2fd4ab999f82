import { kindOf, type Resource } from '../kinds/all.ts';
import { checkReferences, type Scope } from '../references/check.ts';
import { createResourceSet, type ResourceSet } from '../resource-set.ts';
import type { SecretPlace } from '../secret-values.ts';
import { type Identity, identify, labelOf } from './identify.ts';
import { formatPlace, type Problem, problemAt, type RawResource } from './problem.ts';
import { checkShape } from './shape.ts';

export interface ValidationOptions {
  /** Whether a secret that no Secret resource holds comes from elsewhere: the environment, a file. */
  readonly secretExists?: (place: SecretPlace) => boolean;
  /** How to supply a secret from there, in one phrase: the hint beside the problem when it is missing. */
  readonly secretHint?: (place: SecretPlace) => string;
  /** The variable that a secret would be read from there. Different secrets that share one are a problem. */
  readonly secretVariable?: (place: SecretPlace) => string;
}

export interface Validation {
  /** Resources that are right in themselves. Use them only when there are no problems, or leave out what those name. */
  readonly resources: ResourceSet;
  /** In the order in which a reader of the files meets them. */
  readonly problems: readonly Problem[];
}

/** The one validator: commands, the running server and the cluster operator get the same answer from it. */
export function validateResources(raw: readonly RawResource[], options: ValidationOptions = {}): Validation {
  const problems: Problem[] = [];
  const resources: Resource[] = [];
  const declared = new Map<string, RawResource>();

  for (const one of raw) {
    const identified = identify(one.value);
    if ('findings' in identified) {
      problems.push(...identified.findings.map((finding) => problemAt(one.origin, undefined, finding)));
      continue;
    }
    const { identity } = identified;
    const { manifest, findings } = checkShape(kindOf(identity.kind), one.value);
    // One by one: a spread of very many would end the stack.
    for (const finding of findings) problems.push(problemAt(one.origin, labelOf(identity), finding));

    const earlier = declared.get(placeOf(identity));
    if (earlier) problems.push(duplicate(identity, one, earlier));
    else if (identity.name !== undefined) declared.set(placeOf(identity), one);
    if (manifest && !earlier) resources.push(toResource(manifest, one));
  }

  const set = createResourceSet(resources);
  const isDeclared = (kind: string, namespace: string, name: string): boolean =>
    declared.has(`${kind}/${namespace}/${name}`);
  const scope: Scope = {
    set,
    isDeclared,
    secretExists: options.secretExists ?? (() => false),
    secretHint: options.secretHint ?? (() => 'declare the Secret, or supply its value from outside'),
    secretVariable: options.secretVariable,
  };
  for (const { resource, ...finding } of checkReferences(scope)) {
    problems.push(problemAt(resource.origin, `${resource.kind}/${resource.metadata.name}`, finding));
  }
  return { resources: set, problems: inReadingOrder(problems, raw) };
}

function inReadingOrder(problems: readonly Problem[], raw: readonly RawResource[]): Problem[] {
  const files = new Map([...new Set(raw.map(({ origin }) => origin.file))].map((file, index) => [file, index]));
  const file = (problem: Problem): number => files.get(problem.file) ?? 0;
  return problems.toSorted((a, b) => file(a) - file(b) || a.line - b.line || a.column - b.column);
}

function placeOf({ kind, namespace, name }: Identity): string {
  return `${kind}/${namespace}/${name}`;
}

function duplicate(identity: Identity, one: RawResource, earlier: RawResource): Problem {
  const place = formatPlace(earlier.origin, ['metadata', 'name']);
  return problemAt(one.origin, labelOf(identity), {
    path: ['metadata', 'name'],
    message: `is taken: ${place} declares the same ${identity.kind} in namespace \`${identity.namespace}\``,
  });
}

/** The manifest passed the schema of its kind, which is what the type says. */
function toResource(manifest: Readonly<Record<string, unknown>>, { origin }: RawResource): Resource {
  const { apiVersion: _, status: __, metadata, ...rest } = manifest;
  const { name, namespace, labels, annotations } = metadata as Resource['metadata'];
  const kept = { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) };
  return { ...rest, metadata: kept, origin } as Resource;
}
