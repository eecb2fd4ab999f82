import { z } from 'zod';

/** Bounds keep one manifest from filling memory, and the cost of CEL rules on the API server small. */
export const MAX_ITEMS = 64;

/** A text with something in it. Control characters have no place in identifiers, headers or log lines. */
export const Text = z
  .string()
  .min(1, 'must not be empty')
  .max(1024)
  .regex(/^\P{Cc}*$/u, 'must not contain line breaks or other control characters');

/** RFC 6749 §3.3 scope-token. */
const Scope = z
  .string()
  .max(256)
  .regex(/^[!#-[\]-~]+$/, 'must be an OAuth scope: printable characters without spaces, quotes or backslashes')
  .meta({ title: 'scope' });

export const Scopes = z.array(Scope).max(MAX_ITEMS);

/** A path of member names with dots between them: `authed_user.access_token`. */
export const DotPath = z
  .string()
  .max(256)
  .regex(/^[^.\s]+(\.[^.\s]+)*$/, 'must be member names separated by dots, as in `authed_user.access_token`')
  .meta({ title: 'dot path' });

export const Port = z.int().min(1, 'must be a port from 1 to 65535').max(65_535, 'must be a port from 1 to 65535');
