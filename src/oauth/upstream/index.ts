/**
 * The client side of a login: one identity provider, to which browsers are sent and whose tokens we get. Knows how providers
 * differ, and keeps nothing: who calls it stores the leg before the browser leaves, and the tokens when it is back.
 */
export { problemOf, UpstreamError, type UpstreamErrorCode } from './errors.ts';
export type {
  Leg,
  Redeemed,
  Refreshed,
  Renewable,
  TokenSource,
  Upstream,
  UpstreamIdentity,
  UpstreamSettings,
  UpstreamStatus,
  UpstreamTokens,
} from './types.ts';
export { createUpstream, type UpstreamParts } from './upstream.ts';
