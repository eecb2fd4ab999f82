import { headers } from './headers.ts';
import { multiplex } from './multiplex.ts';
import { naming } from './naming.ts';
import type { Property } from './property.ts';
import { sse } from './sse.ts';
import { stream } from './stream.ts';
import { strictJson } from './strict-json.ts';

export { check, type Property } from './property.ts';

export const PROPERTIES: readonly Property[] = [...strictJson, ...sse, ...headers, ...naming, ...stream, ...multiplex];
