/** The run configuration of one workload: its schema, and the files of ToolHive in its words. */
export { CONTAINER_FIELDS, type PermissionProfile } from './container.ts';
export { isGroupName } from './group-name.ts';
export {
  checkRunConfig,
  formatRunConfig,
  type ParsedRunConfig,
  parsePermissionProfile,
  parseRunConfig,
  parseToolsOverride,
} from './parse.ts';
export { RUN_CONFIG_VERSION, type RunConfig, SECRET_REFERENCE } from './schema.ts';
