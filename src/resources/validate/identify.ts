import { isKindName, KINDS, type KindName, kindOf } from '../kinds/all.ts';
import { isMapping } from '../walk.ts';
import { didYouMean } from './explain.ts';
import { type Finding, quoted } from './problem.ts';

/** What a document claims to be. Names are as written, so that a broken resource still counts as declared. */
export interface Identity {
  readonly kind: KindName;
  readonly namespace: string;
  readonly name: string | undefined;
}

export type Identified = { readonly identity: Identity } | { readonly findings: readonly Finding[] };

export function identify(value: unknown): Identified {
  if (!isMapping(value)) {
    return {
      findings: [{ path: [], message: 'must be a mapping with apiVersion, kind, metadata and the fields of the kind' }],
    };
  }
  const { apiVersion, kind, metadata } = value;
  if (isKindName(kind)) {
    const { name, namespace } = isMapping(metadata) ? metadata : {};
    return {
      identity: {
        kind,
        namespace: typeof namespace === 'string' ? namespace : 'default',
        name: typeof name === 'string' ? name : undefined,
      },
    };
  }
  const findings: Finding[] = [unknownKind(kind)];
  if (!KNOWN_VERSIONS.has(apiVersion)) findings.push(foreignVersion(apiVersion));
  return { findings };
}

/** `MCPServer/notes`, for messages. A name that is none is quoted: it may hold line breaks and terminal codes. */
export function labelOf(identity: { readonly kind: string; readonly name: string | undefined }): string {
  if (identity.name === undefined) return identity.kind;
  const plain = /^[!-~]{1,253}$/.test(identity.name);
  return `${identity.kind}/${plain ? identity.name : quoted(identity.name.slice(0, 80))}`;
}

const KNOWN_VERSIONS: ReadonlySet<unknown> = new Set(KINDS.flatMap((kind) => kindOf(kind).apiVersions));

function unknownKind(kind: unknown): Finding {
  if (kind === undefined || kind === null) return { path: ['kind'], message: 'is required', hint: KINDS.join(', ') };
  const hint = didYouMean(kind, KINDS).hint ?? `known kinds: ${KINDS.join(', ')}`;
  return { path: ['kind'], message: 'is not a kind Sallyport knows', hint };
}

function foreignVersion(apiVersion: unknown): Finding {
  const message = apiVersion === undefined || apiVersion === null ? 'is required' : 'is not an API Sallyport knows';
  return { path: ['apiVersion'], message, hint: `write \`${kindOf('MCPServer').apiVersions[0]}\`` };
}
