/**
 * What can be declared: kinds with their fields, defaults and rules, and the one validator for them. Everything is
 * pure: files are read in `sources`, secrets from outside come in through a function.
 */
export type { Aggregation, BackendTools, ToolOverride } from './blocks/aggregation.ts';
export type { AuthServerConfig } from './blocks/auth-server.ts';
export { audienceOf, DEFAULT_KUBERNETES_AUDIENCE, type IncomingAuth } from './blocks/incoming-auth.ts';
export type { CircuitBreaker, FailureHandling, Operational } from './blocks/operational.ts';
export type { OutgoingAuth } from './blocks/outgoing-auth.ts';
export type { Storage } from './blocks/storage.ts';
export type { UpstreamProvider } from './blocks/upstream-provider.ts';
export { crdYaml } from './crd.ts';
export { isImageReference } from './fields/image.ts';
export type { Metadata } from './fields/metadata.ts';
export { type PackageReference, parsePackageReference } from './fields/package-reference.ts';
export type { SecretKeyRef } from './fields/references.ts';
export type { BackendRevision } from './fields/revision.ts';
export { jsonSchemaOf } from './json-schema.ts';
export { KINDS, type KindName, type Resource, type ResourceOf } from './kinds/all.ts';
export type { MCPExternalAuthConfigSpec } from './kinds/mcp-external-auth-config.ts';
export type { MCPGroupSpec } from './kinds/mcp-group.ts';
export type { MCPOIDCConfigSpec } from './kinds/mcp-oidc-config.ts';
export type { MCPServerSpec } from './kinds/mcp-server.ts';
export type { MCPServerEntrySpec } from './kinds/mcp-server-entry.ts';
export type { VirtualMCPServerSpec } from './kinds/virtual-mcp-server.ts';
export { type BackendResource, backendsOf, externalAuthOf } from './references/backends.ts';
export { type OwnLogin, ownCredentialOf, ownLoginOf } from './references/own-login.ts';
export type { ResourceSet } from './resource-set.ts';
export {
  CONTAINER_FIELDS,
  checkRunConfig,
  formatRunConfig,
  isGroupName,
  type ParsedRunConfig,
  type PermissionProfile,
  parsePermissionProfile,
  parseRunConfig,
  parseToolsOverride,
  RUN_CONFIG_VERSION,
  type RunConfig,
  SECRET_REFERENCE,
} from './run-config/index.ts';
export { type SecretPlace, secretFromResources } from './secret-values.ts';
export {
  ConfigError,
  formatPath,
  formatProblem,
  type Origin,
  type Position,
  type Problem,
  problemAt,
  type RawResource,
} from './validate/problem.ts';
export { type Validation, type ValidationOptions, validateResources } from './validate/validate.ts';
export type { FieldPath } from './walk.ts';
