import { z } from 'zod';
import { MAX_REFERENCE, PACKAGE_PATTERNS, parsePackageReference } from './package-reference.ts';

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const REGISTRY = '(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?/)?';
const TAG = '(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?';
const DIGEST = '(?:@sha256:[a-f0-9]{64})?';
/** The reference grammar of the OCI distribution specification. */
const IMAGE = `${REGISTRY}${COMPONENT}(?:/${COMPONENT})*${TAG}${DIGEST}`;
const image = new RegExp(`^${IMAGE}$`);

/** What an MCPServer runs: a container image, or a package of npm, PyPI or Go. */
export const ServerImage = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .max(MAX_REFERENCE, { error: `must have at most ${MAX_REFERENCE} characters`, abort: true })
  .refine((text) => !whyNotImage(text), { error: (issue) => whyNotImage(String(issue.input)) ?? '' })
  .meta({ title: 'image or package', pattern: `^(?:${[IMAGE, ...PACKAGE_PATTERNS].join('|')})$` });

/** Whether a text without a scheme names a container image. */
export function isImageReference(text: string): boolean {
  return text.length <= MAX_REFERENCE && image.test(text);
}

function whyNotImage(text: string): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1];
  if (scheme === undefined) {
    return image.test(text) ? undefined : 'is not a container image reference, as in `ghcr.io/acme/notes:1.2`';
  }
  if (parsePackageReference(text)) return undefined;
  if (!['npx', 'uvx', 'go'].includes(scheme)) {
    return `has the scheme \`${scheme}://\`; a package is written as npx://, uvx:// or go://`;
  }
  return `is not a package reference; ${GRAMMAR[scheme as keyof typeof GRAMMAR]}`;
}

const GRAMMAR = {
  npx: 'write npx://name, npx://@scope/name, either with @version',
  uvx: 'write uvx://name or uvx://name@version',
  go: 'write go://host/module/path@version, or go://./path for a folder on this machine',
} as const;
