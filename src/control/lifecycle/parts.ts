import type { Log } from '../../base/index.ts';
import type { Environment, Groups, WorkloadStore } from '../../workloads/index.ts';
import type { Secrets } from '../chosen/index.ts';

/** What commands about workloads need. */
export interface LifecycleParts {
  readonly store: WorkloadStore;
  readonly groups: Groups;
  readonly env: Environment;
  /** How this program is started: the supervisor of a workload is the same program. */
  readonly self: readonly [string, ...string[]];
  /** The store of the user, opened when it is first needed. */
  readonly secrets: () => Promise<Secrets>;
  readonly log: Log;
  /** Aborted when the person at the keyboard has had enough. */
  readonly stop: AbortSignal;
}
