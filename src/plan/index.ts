/**
 * What was declared becomes what a gateway is built from. Pure: it reads no file and no environment, secrets come in through
 * a function.
 */
export { type Planned, type PlanSources, planResources, type TargetOf } from './from-resources.ts';
export { keyOf } from './key.ts';
export type {
  AggregationPlan,
  BackendPlan,
  BackendTarget,
  ConflictPlan,
  CredentialPlan,
  DoorPlan,
  GatewayPlan,
  IncomingPlan,
  ToolOverridePlan,
  ToolsPlan,
  WorkloadKey,
} from './plan.ts';
export { DEFAULT_BACKEND, planSingle } from './single.ts';
