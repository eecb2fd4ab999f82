/**
 * Servers by name: the built-in catalogue, a file or a registry on the network, read into one form of ours and turned into
 * what `run` needs. Believes nothing it reads: everything is bounded and checked, and a wrong entry is left out and named.
 * A door of its own, since few commands need it.
 */
export { catalogueSource } from './catalogue/index.ts';
export type {
  Declaration,
  EntryProblem,
  LocalWay,
  MissingArgument,
  Permissions,
  Provenance,
  Reading,
  RegistryEntry,
  RegistryOAuth,
  RemoteWay,
  Transport,
  Way,
} from './entry.ts';
export { exampleLine } from './example.ts';
export { createRegistry, type Registry } from './registry.ts';
export { argumentsFor, type RunInputs, toRunInputs, type WayOptions } from './run-inputs.ts';
export { apiSource, isApiPage } from './sources/api.ts';
export { createFetch, type FetchParts } from './sources/fetch.ts';
export { fileSource } from './sources/file.ts';
export { jsonUrlSource } from './sources/json-url.ts';
export type { ReadOptions, RegistrySource } from './sources/source.ts';
export { type Ask, type Settled, settleVariables } from './variables.ts';
