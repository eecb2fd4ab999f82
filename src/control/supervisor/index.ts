/** Keeps one workload running, in the background or in a terminal. A door of its own: a supervisor reads no folder and no YAML. */
export { runForeground } from '../lifecycle/foreground.ts';
export { supervise } from '../lifecycle/supervise.ts';
