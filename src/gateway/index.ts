/**
 * The request road: listener, boundary 1, clients, hub, boundary 2, backends. It is built from a plan and never reads a
 * file, a flag or a resource.
 */
export { type BackendPool, createBackendPool, type ProcessListener, type StartWorkload } from './backends/index.ts';
export type { BackendState } from './call.ts';
export { type BackendReport, createGateway, type Gateway, type GatewayParts, type Patience } from './gateway.ts';
export { type Checkers, createCheckers, type OwnTokens } from './incoming/index.ts';
export { type Access, isLoopback, type Listener, listen } from './listener/index.ts';
export { createMemory, type Memory } from './memory.ts';
export { createRouter, routesOf } from './router.ts';
