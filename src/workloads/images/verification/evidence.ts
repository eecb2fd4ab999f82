import { type Bundle, bundleFromJSON } from '@sigstore/bundle';
import type { Descriptor, Repository } from '../distribution/client.ts';
import { readManifest } from '../distribution/read-manifest.ts';
import { bundleOfLayer, SIMPLE_SIGNING, signedDigest } from './cosign.ts';
import { type Statement, statementAbout } from './statement.ts';

/** A signature about one digest. Nobody has looked yet whether it is good. */
export interface Evidence {
  readonly bundle: Bundle;
  /** What was signed, where it is not in the bundle. */
  readonly artifact?: Buffer;
  readonly statement?: Statement;
}

/** Something that claims to be evidence, or why it is none. */
export type Finding = Evidence | { readonly unusable: string };

/** How many signatures of one kind are looked at. Whoever may write to a repository can make as many as he likes. */
const MOST = 32;
const BUNDLE = /^application\/vnd\.dev\.sigstore\.bundle/;

/** Everything in a repository that may be a signature of a digest: first as cosign keeps it, then bundles that refer to the image. */
export async function* evidenceFor(digest: string, repository: Repository): AsyncGenerator<Finding> {
  const signatures = await repository.manifest(`${digest.replace(':', '-')}.sig`);
  const layers = signatures ? readManifest(signatures.bytes).layers : [];
  for (const layer of layers.filter(({ mediaType }) => mediaType === SIMPLE_SIGNING).slice(0, MOST)) {
    yield await usable(() => fromLayer(layer, digest, repository));
  }
  const referrers = await repository.referrers(digest);
  const listed = referrers ? readManifest(referrers.bytes).manifests : [];
  // Old registries do not repeat the type of an artifact in the list; then its manifest tells.
  const bundles = listed.filter(({ artifactType }) => artifactType === undefined || BUNDLE.test(artifactType));
  for (const descriptor of bundles.slice(0, MOST)) {
    yield await usable(() => fromReferrer(descriptor, digest, repository));
  }
}

async function fromLayer(layer: Descriptor, digest: string, repository: Repository): Promise<Evidence> {
  const artifact = await repository.blob(layer);
  if (signedDigest(artifact) !== digest) throw new Error('it is a signature of another image');
  return { artifact, bundle: bundleOfLayer(layer, artifact) };
}

async function fromReferrer(descriptor: Descriptor, digest: string, repository: Repository): Promise<Evidence> {
  const manifest = await repository.manifest(descriptor.digest);
  if (!manifest) throw new Error('it is listed and not there');
  const { layers, subject } = readManifest(manifest.bytes);
  const layer = layers.find(({ mediaType }) => mediaType !== undefined && BUNDLE.test(mediaType));
  if (!layer || subject !== digest) throw new Error('it is no signature of this image');
  const bundle = bundleFromJSON(JSON.parse((await repository.blob(layer)).toString()));
  const statement = statementAbout(digest, bundle);
  if (!statement) throw new Error('what it states is about another image');
  return { bundle, statement };
}

/** One that cannot be read must not keep the next from being looked at. */
async function usable(read: () => Promise<Evidence>): Promise<Finding> {
  try {
    return await read();
  } catch (error) {
    return { unusable: error instanceof Error ? error.message : 'it cannot be read' };
  }
}
