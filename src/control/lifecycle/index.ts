/**
 * Workloads that go on without the command that began them: written down, started, looked at, changed, stopped, removed. Loads no
 * gateway, so that these commands stay fast; the supervisor, which does, has a door of its own.
 */

export { askAgain } from '../ask-again.ts';
export { type BuildWish, buildImage } from '../build-image.ts';
export { adopt, configure, type RunFlags, reconfigure } from '../configure.ts';
export { withDeclared } from '../declared.ts';
export { type EgressAnswer, explainEgress } from '../egress.ts';
export { type RemoteFlags, type SaidConfig, type SaidSecrets, withRemoteFlags } from '../remote-flags.ts';
export { hasEngine, prepareRuntime, type RegistryPermissions } from '../runtime.ts';
export { type LookUp, resolveSource } from '../source.ts';
export { chooseFreePort } from './free-port.ts';
export { createGroup, type GroupView, listGroups, removeGroup } from './groups.ts';
export { type HandedSecrets, handedResolver, withSaid } from './handed-secrets.ts';
export { look, lookAtAll, type WorkloadView } from './look.ts';
export type { LifecycleParts } from './parts.ts';
export { forEach, known, type Selection, select, unknown } from './select.ts';
export { runDetached, type Started, start } from './start.ts';
export { remove, restart, stop } from './stop.ts';
export { type Updated, update } from './update.ts';
