import type { Challenge } from '../call.ts';

export interface ChallengeFacts {
  /** Where the protected resource metadata is (RFC 9728 §5.1); an anonymous endpoint has none. */
  readonly metadataUrl?: string;
  readonly dpopAlgorithms: readonly string[];
}

/**
 * The `WWW-Authenticate` headers of a refusal (RFC 6750 §3, RFC 9449 §7.1). A caller that speaks DPoP, or has to, reads of it
 * first; everybody else reads of Bearer alone, since many clients understand one challenge only.
 */
export function challengeHeaders(
  message: string,
  { error, scopes, dpop }: Challenge,
  { metadataUrl, dpopAlgorithms }: ChallengeFacts,
): readonly string[] {
  const common = {
    ...(metadataUrl === undefined ? {} : { resource_metadata: metadataUrl }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  };
  const failure = error === undefined ? {} : { error, error_description: message };
  if (!dpop) return [`Bearer ${parameters({ ...common, ...failure })}`];
  return [
    `DPoP ${parameters({ ...common, ...failure, algs: dpopAlgorithms.join(' ') })}`,
    `Bearer ${parameters(common)}`,
  ];
}

function parameters(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${quotable(value)}"`)
    .join(', ');
}

/** RFC 6750 §3: no quote, no backslash and nothing beyond ASCII in a description. Header injection ends here too. */
function quotable(text: string): string {
  return text.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
}
