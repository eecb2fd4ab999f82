/** Which addresses a code may be sent to. */
export interface RedirectRules {
  /** Private-use schemes besides the ones with a dot, which RFC 8252 §7.1 asks for; none where only the web is allowed. */
  readonly schemes: ReadonlySet<string> | 'none';
}

/** Native apps that came before the rule with the dot, or do without. */
const KNOWN_SCHEMES = [
  'cursor',
  'goose',
  'jetbrains',
  'kiro',
  'lmstudio',
  'raycast',
  'vscode',
  'vscode-insiders',
  'vscodium',
  'windsurf',
  'windsurf-next',
  'zed',
];

/** A browser does something else with these than to open an app. No configuration allows them. */
const FORBIDDEN_SCHEMES = new Set([
  'about',
  'blob',
  'chrome',
  'data',
  'file',
  'filesystem',
  'ftp',
  'intent',
  'javascript',
  'mailto',
  'view-source',
  'vbscript',
  'ws',
  'wss',
]);

const LONGEST = 2048;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** What RFC 3986 lets an address consist of: no space, quote, backslash, control character or letter beyond ASCII. */
const URI_CHARACTERS = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/;

export function redirectSchemes(more: readonly string[]): ReadonlySet<string> {
  return new Set([...KNOWN_SCHEMES, ...more.map((scheme) => scheme.toLowerCase())]);
}

/** What is wrong with a redirect address, or `undefined`. Its raw text is judged: that is what requests are compared with. */
export function redirectUriProblem(uri: unknown, rules: RedirectRules): string | undefined {
  if (typeof uri !== 'string' || uri === '') return 'must be a text';
  if (uri.length > LONGEST) return `must not be longer than ${LONGEST} characters`;
  if (uri.includes('#')) return 'must not have a fragment';
  if (!URI_CHARACTERS.test(uri)) return 'must consist of the characters of a URI';
  const url = URL.parse(uri);
  const scheme = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(uri)?.[0].toLowerCase();
  if (!url || scheme === undefined || url.protocol !== `${scheme}:`) return 'must be an absolute URI';
  if (scheme === 'https' || scheme === 'http') return webProblem(uri, url);
  return schemeProblem(scheme, url, rules);
}

/** Anybody on the user's machine can listen there, and the port is chosen when the app starts (RFC 8252 §7.3). */
export function isLoopback(uri: string): boolean {
  const url = URL.parse(uri);
  return url?.protocol === 'http:' && LOOPBACK.has(url.hostname);
}

function webProblem(uri: string, url: URL): string | undefined {
  // The parser forgives one slash, three slashes and user names; what it reads then is not what a person reads.
  const authority = /^https?:\/\/([^/?]+)/i.exec(uri)?.[1];
  if (authority === undefined || url.hostname === '') return 'must name a host after two slashes';
  if (authority.includes('@')) return 'must not have a user name';
  if (url.protocol === 'http:' && !isLoopback(uri)) return 'may use http only for localhost, 127.0.0.1 and [::1]';
  return undefined;
}

function schemeProblem(scheme: string, url: URL, { schemes }: RedirectRules): string | undefined {
  if (FORBIDDEN_SCHEMES.has(scheme)) return `must not use the scheme ${scheme}`;
  if (schemes === 'none') return 'must use https, or http on a loopback address';
  if (!scheme.includes('.') && !schemes.has(scheme)) return `uses the scheme ${scheme}, which is not allowed here`;
  if (url.username !== '' || url.password !== '') return 'must not have a user name';
  return undefined;
}
