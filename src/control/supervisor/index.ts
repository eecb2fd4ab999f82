/** Keeps one workload running, in the background or in a terminal. A door of its own: a supervisor reads no folder and no YAML. */
export { createWorkloadStore } from '../../workloads/index.ts';
export { runForeground } from '../lifecycle/foreground.ts';
export { readHanded } from '../lifecycle/handed.ts';
export { handedResolver } from '../lifecycle/handed-secrets.ts';
export { supervise } from '../lifecycle/supervise.ts';
