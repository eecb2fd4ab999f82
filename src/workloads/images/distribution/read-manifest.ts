import type { Descriptor } from './client.ts';

/** What a manifest or an index holds, as far as we look. */
export interface Manifest {
  readonly layers: readonly Descriptor[];
  /** The manifests of an index. */
  readonly manifests: readonly Descriptor[];
  /** What it says it belongs to. */
  readonly subject?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Whoever may write to a registry wrote this. Members of another shape count as absent. */
export function readManifest(bytes: Buffer): Manifest {
  const { layers, manifests, subject } = fieldsOf(parseJson(bytes.toString()));
  const { digest } = fieldsOf(subject);
  return {
    layers: descriptors(layers),
    manifests: descriptors(manifests),
    ...(typeof digest === 'string' ? { subject: digest } : {}),
  };
}

/** Nothing when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function descriptors(value: unknown): readonly Descriptor[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    const { digest, size, mediaType, artifactType, annotations } = fieldsOf(item);
    if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) return [];
    if (typeof size !== 'number' || !(size >= 0)) return [];
    const texts = Object.entries(fieldsOf(annotations)).filter((entry): entry is [string, string] => {
      return typeof entry[1] === 'string';
    });
    return [
      {
        digest,
        size,
        annotations: Object.fromEntries(texts),
        ...(typeof mediaType === 'string' ? { mediaType } : {}),
        ...(typeof artifactType === 'string' ? { artifactType } : {}),
      },
    ];
  });
}
