/** Where a redirect address leads, in terms of what a user can judge. */
export type Destination =
  | { readonly kind: 'website'; readonly host: string }
  /** A program on the computer of whoever looks at the page: any of them may call itself anything. */
  | { readonly kind: 'this-computer'; readonly host: string }
  /** An app that the system opens for such links. */
  | { readonly kind: 'app'; readonly scheme: string };

export function destinationOf(redirectUri: string): Destination {
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  if (url && isWeb(url)) return { kind: isLoopback(url) ? 'this-computer' : 'website', host: url.host };
  return { kind: 'app', scheme: url?.protocol ?? redirectUri };
}

/**
 * An address that a page may lead to: a path of ours, https, or http on this computer. Never `javascript:` or another scheme:
 * clients with schemes of their own are reached through a path of ours, which redirects.
 */
export function safeAddress(address: string): string | undefined {
  // A second slash, or a backslash, which browsers take for one, would make it another host.
  if (/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(address)) return address;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.username !== '' || url.password !== '') return undefined;
  return url.protocol === 'https:' || (isWeb(url) && isLoopback(url)) ? url.href : undefined;
}

function isWeb(url: URL): boolean {
  return url.protocol === 'https:' || url.protocol === 'http:';
}

function isLoopback({ hostname }: URL): boolean {
  return /^(.+\.)?localhost\.?$|^\[::1\]$|^127(\.\d{1,3}){3}$/.test(hostname);
}
