import { ConfigError, type Problem, type ResourceSet, validateResources } from '../resources/index.ts';
import { type SecretSource, variableFor } from '../secrets/index.ts';
import { readYamlFolder } from '../sources/index.ts';

/** Every problem of a folder of resources, and the resources where there is none. */
export async function inspectFolder(
  path: string,
  secrets: SecretSource,
): Promise<{ readonly resources: ResourceSet; readonly problems: readonly Problem[] }> {
  const { raw, problems } = await readYamlFolder(path);
  const validation = validateResources(raw, {
    secretExists: (ref) => secrets.read(ref) !== undefined,
    secretVariable: variableFor,
    secretHint: (ref) => `declare the Secret, or ${secrets.describe(ref)}`,
  });
  return { resources: validation.resources, problems: [...problems, ...validation.problems] };
}

/** The resources of a folder. Throws with all problems when there is one: nothing half-valid goes on from here. */
export async function declaredIn(path: string, secrets: SecretSource): Promise<ResourceSet> {
  const { resources, problems } = await inspectFolder(path, secrets);
  if (problems.length > 0) throw new ConfigError(problems);
  return resources;
}
