/** Joins the control road to gateways: reads what is declared, starts what must run, serves it and follows changes. */
export { readStatus, type Status } from './admin.ts';
export { inspectFolder } from './declare.ts';
export type { BackendSummary, Endpoint, ServeEvent } from './endpoints.ts';
export { type RunOptions, type RunParts, run } from './run.ts';
export { type ServeOptions, type ServeParts, serve } from './serve.ts';
