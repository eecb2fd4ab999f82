/**
 * The client side of MCP: both eras on one endpoint, sessions and their streams, calls that wait for their user. It turns
 * messages into calls and answers into messages, and never decides which server gets a call.
 */
export { postBatch } from './batch.ts';
export { isModern } from './envelope.ts';
export type { Greeting, Hub, HubEvents, Hubs } from './hub.ts';
export { type KeptSessions, keepSessions, type SessionRow, type SessionRows } from './kept-sessions.ts';
export { type Answering, createLegacy, type Incoming, type Legacy } from './legacy.ts';
export { createModern } from './modern.ts';
export { createOldSse, type OldClients } from './old-sse.ts';
export { createParking, type Parking } from './parking.ts';
export type { Session } from './session.ts';
export { createSessions, type Sessions } from './sessions.ts';
