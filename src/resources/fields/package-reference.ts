/** A server that is fetched from a package index and run, instead of a container image. */
export type PackageReference =
  | { readonly scheme: 'npx' | 'uvx'; readonly package: string; readonly version?: string }
  | { readonly scheme: 'go'; readonly module: string; readonly version?: string }
  | { readonly scheme: 'go'; readonly path: string };

/**
 * The grammars are narrower than what the tools take. A reference ends up in an argument list and in a build file, so it
 * holds no white space, no shell characters, and no part starts with `-`, where it would be read as an option.
 */
const VERSION = '(?:@([A-Za-z0-9][A-Za-z0-9.+_-]*))?';
const NPM_NAME = '(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*';
const PYPI_NAME = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?';
/** The first element of a module path is a host, so it has a dot; no element is empty or starts with a dot. */
const GO_MODULE = '[A-Za-z0-9][A-Za-z0-9-]*(?:\\.[A-Za-z0-9-]+)+(?:/[A-Za-z0-9_~][A-Za-z0-9._~-]*)*';
const GO_PATH = '\\.\\.?/(?:[A-Za-z0-9._@+~-]+(?:/[A-Za-z0-9._@+~-]+)*/?)?';

/** Patterns without anchors, for schemas that allow a reference beside something else. */
export const PACKAGE_PATTERNS: readonly string[] = [
  `npx://(${NPM_NAME})${VERSION}`,
  `uvx://(${PYPI_NAME})${VERSION}`,
  `go://(${GO_MODULE})${VERSION}`,
  `go://(${GO_PATH})`,
];
export const MAX_REFERENCE = 512;

const [npx, uvx, goModule, goPath] = PACKAGE_PATTERNS.map((pattern) => new RegExp(`^${pattern}$`));

/** The parts of `npx://…`, `uvx://…` or `go://…`, or `undefined` when the text is not such a reference. */
export function parsePackageReference(text: string): PackageReference | undefined {
  if (text.length > MAX_REFERENCE) return undefined;
  const match = (pattern: RegExp | undefined): RegExpExecArray | null => pattern?.exec(text) ?? null;

  const npm = match(npx);
  if (npm?.[1]) return { scheme: 'npx', package: npm[1], ...versionOf(npm) };
  const pypi = match(uvx);
  if (pypi?.[1]) return { scheme: 'uvx', package: pypi[1], ...versionOf(pypi) };
  const path = match(goPath);
  if (path?.[1]) return { scheme: 'go', path: path[1] };
  const module = match(goModule);
  if (module?.[1]) return { scheme: 'go', module: module[1], ...versionOf(module) };
  return undefined;
}

function versionOf(match: RegExpExecArray): { version?: string } {
  return match[2] === undefined ? {} : { version: match[2] };
}
