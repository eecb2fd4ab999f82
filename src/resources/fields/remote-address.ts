/**
 * Which addresses a manifest may name as a remote server. The tests look at the text, so that TypeScript and CEL say the
 * same; names are looked up only when we connect, and the guard there has the last word.
 */
const START = '^https?://';
const END = '\\.?([:/?#]|$)';
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';

/** Hosts that a URL parser takes for an IPv4 address, in any notation: `127.0.0.1`, `2130706433`, `0x7f.1`. */
export const NUMERIC_HOST = `${START}([^/?#:]*\\.)?(0x[0-9a-f]*|[0-9]+)${END}`;
export const PLAIN_IPV4 = `${START}${OCTET}(\\.${OCTET}){3}([:/?#]|$)`;

/** Link-local and metadata addresses give out the credentials of the machine. Nobody's MCP server lives there. */
export const FORBIDDEN_HOST = oneOf(
  `0(\\.${OCTET}){3}`,
  `169\\.254(\\.${OCTET}){2}`,
  '100\\.100\\.100\\.200',
  '168\\.63\\.129\\.16',
  '([^/?#:]*\\.)?metadata\\.google\\.internal',
  '([^/?#:]*\\.)?kubernetes\\.default(\\.svc(\\.cluster\\.local)?)?',
  '\\[fe[89ab][0-9a-f]:[^\\]]*\\]',
  '\\[fd00:0?ec2:[^\\]]*\\]',
  // An IPv4 address inside an IPv6 one is a way around the lines above: mapped, and NAT64.
  '\\[[^\\]]*\\.[^\\]]*\\]',
  '\\[[0:]*:ffff:[^\\]]*\\]',
  '\\[0{0,2}64:ff9b:[^\\]]*\\]',
  '\\[[0:]*\\]',
);

/** Loopback and private networks: fine when the manifest says it means them. */
export const PRIVATE_HOST = oneOf(
  '([^/?#:]*\\.)?localhost',
  '[^/?#:]*\\.cluster\\.local',
  `(10|127)(\\.${OCTET}){3}`,
  `172\\.(1[6-9]|2[0-9]|3[01])(\\.${OCTET}){2}`,
  `192\\.168(\\.${OCTET}){2}`,
  `192\\.0\\.0\\.${OCTET}`,
  `198\\.1[89](\\.${OCTET}){2}`,
  `100\\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])(\\.${OCTET}){2}`,
  `(22[4-9]|2[34][0-9]|25[0-5])(\\.${OCTET}){3}`,
  // Only 2000::/3 is the public internet, and 6to4 and Teredo in it carry IPv4 addresses.
  '\\[([0-9a-f]{0,3}|[014-9a-f][0-9a-f]{3}):[^\\]]*\\]',
  '\\[2002:[^\\]]*\\]',
  '\\[2001:0{0,4}:[^\\]]*\\]',
);

export function matches(pattern: string, url: string): boolean {
  return new RegExp(pattern).test(url.toLowerCase());
}

function oneOf(...hosts: readonly string[]): string {
  return `${START}(${hosts.join('|')})${END}`;
}
