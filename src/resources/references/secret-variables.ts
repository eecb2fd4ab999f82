import type { SecretPlace } from '../secret-values.ts';
import { formatPlace, type Origin } from '../validate/problem.ts';
import type { FieldPath } from '../walk.ts';
import type { ReferenceFinding, Scope } from './check.ts';
import { referencesOf } from './existence.ts';

interface Reader extends SecretPlace {
  readonly origin: Origin;
  readonly path: FieldPath;
}

/**
 * Names of variables have fewer characters than names of secrets, so that two secrets can meet in one: whoever sets it for
 * the one would hand it to the other. Whether it is set now does not matter, somebody may set it tomorrow.
 */
export function* checkSecretVariables({ set, secretVariable }: Scope): Generator<ReferenceFinding> {
  if (!secretVariable) return;
  const readers = new Map<string, Reader>();
  for (const resource of set.all) {
    const { namespace } = resource.metadata;
    for (const { kind, name, key, path } of referencesOf(resource)) {
      if (kind !== 'Secret' || key === undefined) continue;
      const variable = secretVariable({ namespace, name, key });
      const first = readers.get(variable);
      if (!first) {
        readers.set(variable, { namespace, name, key, path, origin: resource.origin });
        continue;
      }
      if (first.namespace === namespace && first.name === name && first.key === key) continue;
      const other = `key \`${first.key}\` of secret \`${first.name}\``;
      const message = `would be read from ${variable}, as ${other} at ${formatPlace(first.origin, first.path)}`;
      yield { resource, path, message, hint: 'rename one of the two' };
    }
  }
}
