import { z } from 'zod';

/**
 * URLs are held by patterns first, so that editors and the Kubernetes API server refuse what we refuse. Hosts are
 * ASCII without user information: an international name is written in its `xn--` form, and nothing can hide before `@`.
 */
const HOST = '([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])';
const PORT = '(:[0-9]{1,5})?';
const REST = '([/?#][^\\s\\\\]*)?';
/** RFC 8414 §2: an issuer has no query and no fragment. */
const PATH = '(/[^\\s?#\\\\]*)?';
const PATH_WITHOUT_END_SLASH = '(/[^\\s?#\\\\]*[^\\s?#/\\\\])?';
const LOOPBACK_HOST = '(localhost|127(\\.[0-9]{1,3}){3}|\\[::1\\])';
/** https anywhere; plain http only to this machine, where nobody listens in between. */
const SECURE_ORIGIN = `(https://${HOST}${PORT}|http://${LOOPBACK_HOST}${PORT})`;

/** Texts of patterns that rules use in TypeScript and in CEL alike. */
export const SECURE_START = `^${SECURE_ORIGIN}([/?#]|$)`;

const NEEDS_HTTPS = 'must be an https URL; http is allowed only for localhost, 127.0.0.0/8 and [::1]';

export const HttpUrl = url(`^https?://${HOST}${PORT}${REST}$`, 'must be an http or https URL with a host');

/** For addresses that get credentials: tokens, codes and client secrets must not cross a network in the clear. */
export const SecureUrl = url(`^${SECURE_ORIGIN}${REST}$`, NEEDS_HTTPS);

/** The issuer of somebody else's tokens. A closing slash is part of the identifier (Auth0 has one), so it may stay. */
export const IssuerUrl = url(`^${SECURE_ORIGIN}${PATH}$`, `${NEEDS_HTTPS}; an issuer has no query and no fragment`);

/** The same without the demand for https, for resources that have a field to waive it. */
export const AnyIssuerUrl = url(
  `^https?://${HOST}${PORT}${PATH}$`,
  'must be an http or https URL without query and fragment',
);

/** Our own issuer: endpoints are made by appending to it, so it does not end in a slash. */
export const OwnIssuerUrl = url(
  `^${SECURE_ORIGIN}${PATH_WITHOUT_END_SLASH}$`,
  `${NEEDS_HTTPS}; without query, fragment and closing slash`,
);

/** Where a store listens: `redis.internal:6379` or `[fd00::7]:6379`. */
export const HostAndPort = z
  .string()
  .max(300)
  .regex(new RegExp(`^${HOST}:[0-9]{1,5}$`), 'must be host:port')
  .meta({ title: 'host:port' });

const secure = new RegExp(SECURE_START);

export function isSecureUrl(text: string): boolean {
  return secure.test(text);
}

function url(pattern: string, says: string): z.ZodString {
  return z
    .string()
    .max(2048)
    .regex(new RegExp(pattern), { error: says, abort: true })
    .refine((text) => URL.canParse(text), 'is not a URL: its host or port is malformed')
    .meta({ title: 'URL' });
}
