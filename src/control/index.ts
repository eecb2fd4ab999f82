/** Joins the control road to gateways: reads what is declared, starts what must run, serves it and follows changes. */
export { readStatus, type Status } from './admin.ts';
export { readCaBundle } from './ca-bundle.ts';
export { inspectFolder } from './declare.ts';
export type { BackendSummary, Endpoint, ServeEvent } from './endpoints.ts';
export type { IncomingFlags } from './incoming-flags.ts';
export { readLogins, revokeLogins } from './logins.ts';
export { type ServeOptions, type ServeParts, serve } from './serve.ts';
