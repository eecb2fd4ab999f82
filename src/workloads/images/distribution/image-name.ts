/** An image reference taken apart and written in full, as engines and registries agree on it. */
export interface ImageName {
  /** Host and maybe port of the registry: `docker.io`, `ghcr.io`, `127.0.0.1:5000`. */
  readonly registry: string;
  /** The repository in that registry: `library/node`. */
  readonly path: string;
  /** Both together, with neither tag nor digest. */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

const HUB = 'docker.io';

export function parseImageName(reference: string): ImageName {
  const [unpinned = '', digest] = reference.split('@');
  const [, named = unpinned, tag] = /^(.+):([^/:]+)$/.exec(unpinned) ?? [];
  const [first = '', ...rest] = named.split('/');
  const hasHost = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const host = hasHost ? first : HUB;
  const registry = host === 'index.docker.io' ? HUB : host;
  const own = hasHost ? rest.join('/') : named;
  const path = registry === HUB && !own.includes('/') ? `library/${own}` : own;
  return {
    registry,
    path,
    repository: `${registry}/${path}`,
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/** The digests under which an engine knows an image of this repository; names of other repositories prove nothing about it. */
export function digestsOf({ repository }: ImageName, repoDigests: readonly string[]): readonly string[] {
  return repoDigests
    .map(parseImageName)
    .flatMap(({ repository: other, digest }) => (other === repository && digest !== undefined ? [digest] : []));
}
