/** Where resources come from: folders of YAML, now and when they change. Reads, never judges: that is for `resources`. */
export { type WatchOptions, watchFolder } from './watch-folder.ts';
export type { Read } from './yaml-documents.ts';
export { readYamlFolder } from './yaml-files.ts';
