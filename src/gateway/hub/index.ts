/**
 * Makes one MCP server out of many: one list, one name space, each call to the backend that owns it. It never opens a
 * connection and never decides who may call.
 */
export type { Hub, HubParts, HubPlan } from './hub.ts';
export { createHubs, type Hubs } from './hubs.ts';
