/**
 * Workloads that go on without the command that began them: written down, started, looked at, changed, stopped, removed. Loads no
 * gateway, so that these commands stay fast; the supervisor, which does, has a door of its own.
 */

export { createGroups, createWorkloadStore, followLog, tailLog } from '../../workloads/index.ts';
export { chooseFreePort } from './free-port.ts';
export { createGroup, type GroupView, listGroups, removeGroup } from './groups.ts';
export { withSaid } from './handed-secrets.ts';
export { look, lookAtAll, type WorkloadView } from './look.ts';
export type { LifecycleParts } from './parts.ts';
export { forEach, known, type Selection, select, unknown } from './select.ts';
export { runDetached, type Started, start } from './start.ts';
export { remove, restart, stop } from './stop.ts';
export { type Updated, update } from './update.ts';
