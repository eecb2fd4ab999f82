import { SallyError } from '../base/index.ts';
import { isImageReference, parsePackageReference, type RunConfig } from '../resources/index.ts';
import { workloadNameFor } from '../workloads/index.ts';
import type { RunInputs } from '../workloads/registry/index.ts';

/** Finds a server by its name. Nothing when the registry does not have it; throws when that cannot be known. */
export type LookUp = (name: string) => Promise<RunInputs | undefined>;

/** The part of a configuration that the server itself decides. */
export type SourceFields = Pick<RunConfig, 'name' | 'transport'> &
  Partial<Pick<RunConfig, 'image' | 'remote_url' | 'target_port' | 'registry_server_name' | 'registry_url'>>;

export interface Source {
  readonly fields: SourceFields;
  /** What the registry says about it, when it was found there. */
  readonly found?: RunInputs;
}

/**
 * What the argument of `run` means. The first that fits counts: a URL, a package (`npx://`, `uvx://`, `go://`), a name in the
 * registry, a container image. A registry that cannot be asked is an error: a name must not turn into somebody's image.
 */
export async function resolveSource(argument: string, lookUp: LookUp): Promise<Source> {
  const direct = fieldsOf(argument, workloadNameFor(argument));
  if (direct) return { fields: direct };
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(argument)) throw unusable(argument, 'it is no URL and no package');
  const found = await lookUp(argument);
  if (found) return { found, fields: foundFields(found) };
  if (isImageReference(argument)) return { fields: imageFields(argument, workloadNameFor(argument)) };
  throw unusable(argument, 'it is no URL, no package, no name in the registry and no image');
}

function fieldsOf(server: string, name: string): SourceFields | undefined {
  if (/^https?:\/\//i.test(server)) return { name, remote_url: server, transport: 'streamable-http' };
  // Packages are programs that speak over their pipes, unless somebody says otherwise.
  return parsePackageReference(server) ? { name, image: server, transport: 'stdio' } : undefined;
}

function imageFields(server: string, name: string): SourceFields {
  return { name, image: server, transport: 'stdio' };
}

function foundFields({ name, registry, server, transport, targetPort }: RunInputs): SourceFields {
  const own = workloadNameFor(`registry://${name}`);
  return {
    ...(fieldsOf(server, own) ?? imageFields(server, own)),
    transport,
    registry_server_name: name,
    registry_url: registry,
    ...(targetPort === undefined ? {} : { target_port: targetPort }),
  };
}

function unusable(argument: string, why: string): SallyError {
  return new SallyError(
    'workload.reference_invalid',
    `${JSON.stringify(argument)} is not a server that can be run: ${why}`,
    {
      hint: 'use npx://PACKAGE[@VERSION], uvx://PACKAGE[@VERSION], go://MODULE[@VERSION], go://./FOLDER, an http(s) URL, or a name that sally search finds',
    },
  );
}
