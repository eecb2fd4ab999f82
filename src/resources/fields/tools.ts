import { z } from 'zod';
import { Text } from './text.ts';

/** A tool's name as clients see it: what every client accepts, and many accept no more. */
export const ToolName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, `_` and `-`')
  .meta({ title: 'tool name' });

/** A tool's name as its backend gives it. Servers are free in this. */
export const BackendToolName = Text.max(256);

/** What goes in front of a tool's name. `{workload}` stands for the name of the backend. */
export const PrefixFormat = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .max(64)
  .regex(
    /^([A-Za-z0-9_-]|\{workload\})+$/,
    'must be letters, digits, `_` and `-`, as tool names allow, and `{workload}` for the name of the backend',
  )
  .meta({ title: 'prefix' });
