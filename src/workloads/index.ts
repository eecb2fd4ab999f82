/**
 * What must run, and where it answers: names of workloads, package references resolved to commands, and the runtime that
 * keeps server processes alive and leaves none behind. Moves lines between us and a server and never looks inside them;
 * knows nothing of MCP, plans or gateways.
 */
export { parseEnvFile, readEnvFile, readEnvFolder } from './env-file.ts';
export type {
  ConfinedNetwork,
  Confinement,
  ContainerLaunch,
  ContainerNetwork,
  Environment,
  Launch,
  ProcessLaunch,
  PublishedPort,
} from './launch.ts';
export { checkWorkloadName, workloadNameFor } from './name.ts';
export { type ConfinedCommand, resolveConfined } from './origins/confined.ts';
export { type Command, type ResolveOptions, resolvePackage } from './origins/scheme.ts';
export { decide, type EgressRules } from './permissions/egress.ts';
export { findWay, type Way } from './permissions/egress-proxy.ts';
export { mountsOf } from './permissions/ignore-files.ts';
export type { Mount } from './permissions/mounts.ts';
export { BUILT_IN, egressOf, isBuiltIn, networkOf, parsePort } from './permissions/profile.ts';
export { volumesOf } from './permissions/volumes.ts';
export { describeAddress, type EngineAddress, type EngineKind } from './runtimes/engine/address.ts';
export { connectEngine, type Engine } from './runtimes/engine/connect.ts';
export { reap } from './runtimes/engine/reap.ts';
export { needsRelay } from './runtimes/engine/settings.ts';
export { createEngines, type Engines, superviseContainer } from './runtimes/engine/supervise.ts';
export type { ProcessListener, SupervisedProcess } from './runtimes/keep-running.ts';
export { findBubblewrap } from './runtimes/process/confine/bubblewrap.ts';
export { createGuardian, type Guardian, type GuardianParts } from './runtimes/process/guardian.ts';
export type { Limits } from './runtimes/process/limits.ts';
export { type SuperviseParts, superviseProcess } from './runtimes/process/supervise.ts';
export { createGroups, DEFAULT_GROUP, type Groups } from './state/groups.ts';
export { type LogFile, openLogFile } from './state/log-file.ts';
export { followLog, tailLog } from './state/read-log.ts';
export type { Failure, SupervisorRecord, WorkloadRecord } from './state/records.ts';
export { createWorkloadStore, type WorkloadStore } from './state/store.ts';
