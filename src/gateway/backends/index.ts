/**
 * Connections to MCP servers. Opens them, keeps them open, sends requests and gives answers back; it never looks at who may
 * call what, nor at what tools are called outside.
 */
export type { StartWorkload } from './line.ts';
export { type BackendPool, createBackendPool, type Lease, type PoolParts } from './pool.ts';
export type { ProcessListener } from './stdio.ts';
