/**
 * What was declared becomes what a gateway is built from. Pure: it reads no file and no environment, secrets come in through
 * a function.
 */

export type {
  AuthServerPlan,
  ClientAuthPlan,
  KnownClientPlan,
  StoragePlan,
  TokenResponsePlan,
  UpstreamEndpoints,
  UpstreamPlan,
  UserInfoPlan,
} from './auth-server-plan.ts';
export { type Planned, type PlanSources, planResources, type TargetOf } from './from-resources.ts';
export { resourceOf } from './incoming.ts';
export { keyOf } from './key.ts';
export { isPersonal } from './personal.ts';
export type {
  AggregationPlan,
  BackendPlan,
  BackendTarget,
  ConflictPlan,
  CredentialPlan,
  DoorPlan,
  EmbeddedPlan,
  GatewayPlan,
  IncomingPlan,
  KubernetesPlan,
  OidcPlan,
  ProtectedPlan,
  ToolOverridePlan,
  ToolsPlan,
  WorkloadKey,
} from './plan.ts';
export type { RedisAccountPlan, RedisAddress, RedisPlan, RedisServersPlan, RedisTlsPlan } from './redis-plan.ts';
export { DEFAULT_BACKEND, planSingle } from './single.ts';
export { planStorage, type StorageSources } from './storage.ts';
