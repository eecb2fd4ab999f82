/**
 * The library for JWT and their keys, for whoever meets one. A gateway without callers who show a token never does, and loading it takes as
 * long as loading all the rest of a gateway.
 */
export function loadJose(): Promise<typeof import('jose')> {
  return import('jose');
}
