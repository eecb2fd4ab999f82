/** Does a URI come from this template? */
export type UriMatcher = (uri: string) => boolean;

const MAX_EXPRESSIONS = 32;

/**
 * Matches URIs against an RFC 6570 template without a regular expression: a server writes the template, and one that makes an
 * expression backtrack for ever must not stop the gateway. Every literal part has to occur in order; what lies between is the
 * value of an expression, without a slash unless the expression allows one.
 */
export function createUriMatcher(template: string): UriMatcher {
  const parts = template.split(/\{([^{}]*)\}/);
  if (parts.length > 2 * MAX_EXPRESSIONS) return () => false;
  return (uri) => matches(uri, parts);
}

function matches(uri: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? '';
  if (!uri.startsWith(first)) return false;
  let at = first.length;
  for (let index = 1; index < parts.length; index += 2) {
    const expression = parts[index] ?? '';
    const literal = parts[index + 1] ?? '';
    const isLast = index + 2 >= parts.length;
    // The last literal has to end the text; the others are taken where they come first.
    const next = isLast ? uri.length - literal.length : uri.indexOf(literal, at + (literal === '' ? 1 : 0));
    if (next < at || !uri.startsWith(literal, next)) return false;
    if (!fits(uri.slice(at, next), expression)) return false;
    at = next + literal.length;
  }
  return at === uri.length;
}

function fits(value: string, expression: string): boolean {
  const operator = expression[0] ?? '';
  if ('?&'.includes(operator) && operator !== '') return value === '' || value.startsWith(operator);
  if ('+#/.;'.includes(operator) && operator !== '') return true;
  return value !== '' && !value.includes('/');
}
