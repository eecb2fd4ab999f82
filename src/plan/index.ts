/**
 * What was declared becomes what a gateway is built from. Pure: it reads no file and no environment, secrets come in through
 * a function.
 */
export { type Planned, type PlanSources, planResources, type TargetOf } from './from-resources.ts';
export { keyOf } from './key.ts';
export {
  type BackendPlan,
  type BackendTarget,
  type CredentialPlan,
  DEFAULT_TIMEOUT,
  type DoorPlan,
  type GatewayPlan,
  type IncomingPlan,
  type NamingPlan,
  type WorkloadKey,
} from './plan.ts';
export { planSingle } from './single.ts';
