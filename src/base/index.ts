/**
 * What everything stands on: errors, logging, durations, secrets. Knows nothing of MCP, OAuth or resources,
 * keeps no state and does no I/O of its own.
 */
export { cacheFolder, configFolder, dataFolder, stateFolder } from './directories.ts';
export { DURATION_PATTERN, parseDuration } from './duration.ts';
export { codeOf, type ErrorDetails, SallyError, toSallyError } from './errors.ts';
export { type ErrorCode, FACES, type Face } from './faces.ts';
export { given } from './given.ts';
export { keepHeapSmall } from './heap.ts';
export { createLog, type Log, type LogFields, type LogLevel, silentLog } from './log.ts';
export { printable } from './printable.ts';
export type { HttpHandler, Route } from './route.ts';
export { createSealer, type Sealer } from './seal.ts';
export { Secret } from './secret.ts';
export { suggest } from './suggest.ts';
