import { z } from 'zod';
import { DnsLabel } from '../fields/names.ts';
import { MAX_ITEMS } from '../fields/text.ts';
import { BackendToolName, PrefixFormat, ToolName } from '../fields/tools.ts';
import { withRules } from '../traits.ts';

/** One backend may have hundreds of tools. The API server wants a bound too: it prices the rules inside by it. */
const MAX_TOOLS = 256;

const Annotations = z.strictObject({
  title: z.string().min(1, 'must not be empty').max(256).optional().describe('Title for people.'),
  readOnlyHint: z.boolean().optional().describe('The tool changes nothing.'),
  destructiveHint: z.boolean().optional().describe('The tool may delete or overwrite.'),
  idempotentHint: z.boolean().optional().describe('Calling it twice does no more than calling it once.'),
  openWorldHint: z.boolean().optional().describe('The tool reaches things outside the server.'),
});

const ToolOverride = z.strictObject({
  name: ToolName.optional().describe(
    'Name instead of the one the backend gives, before the prefix; no other tool of the backend may get it. The old name cannot be called any more.',
  ),
  description: z
    .string()
    .min(1, 'must not be empty')
    .max(8192)
    .optional()
    .describe('Description instead of the one the backend gives.'),
  annotations: Annotations.optional().describe(
    'Annotations to set; those not named here stay as the backend gives them.',
  ),
});
export type ToolOverride = z.output<typeof ToolOverride>;

withRules(ToolOverride, [
  {
    at: 'name',
    says: 'is required, or description, or annotations: the override changes nothing',
    holds: ({ name, description, annotations }) =>
      name !== undefined || description !== undefined || annotations !== undefined,
    cel: 'has(self.name) || has(self.description) || has(self.annotations)',
  },
]);

const BackendTools = z.strictObject({
  workload: DnsLabel.describe('Name of the backend, which must be in the group. Each backend has one entry at most.'),
  filter: z
    .array(BackendToolName)
    .max(MAX_TOOLS)
    .default([])
    .describe(
      'The only tools to offer, by the names they have after `overrides` and before the prefix. Empty: all. A tool left out cannot be called and looks like one that does not exist.',
    ),
  overrides: z
    .record(BackendToolName, ToolOverride)
    .refine((overrides) => Object.keys(overrides).length <= MAX_TOOLS, `must have at most ${MAX_TOOLS} entries`)
    .meta({ maxProperties: MAX_TOOLS })
    .default({})
    .describe('Changes to single tools; the key is the name that the backend gives.'),
  excludeAll: z.boolean().default(false).describe('Offer no tool of this backend. Its prompts and resources stay.'),
});
export type BackendTools = z.output<typeof BackendTools>;

const ConflictResolutionConfig = z.strictObject({
  prefixFormat: PrefixFormat.default('{workload}_').describe(
    'What goes in front of names, with `{workload}` for the name of the backend; a fixed text is possible. `prefix` puts it in front of every name, `priority` only where a name is taken and no backend of `priorityOrder` decides.',
  ),
  priorityOrder: z
    .array(DnsLabel)
    .max(MAX_ITEMS)
    .default([])
    .describe(
      'Names of backends of the group, for `priority`: of two tools with one name, that of the earlier backend is offered.',
    ),
});

export const Aggregation = z.strictObject({
  conflictResolution: z
    .enum(['prefix', 'priority', 'manual'])
    .default('prefix')
    .describe(
      'How tools with one name are kept apart. `prefix` puts the backend in front of every name. `priority` leaves names as they are and lets the backend that comes first in `priorityOrder` win. `manual` leaves it to `overrides`: names that still collide are left out, and the log says which.',
    ),
  conflictResolutionConfig: ConflictResolutionConfig.prefault({}).describe('Settings of the chosen way.'),
  tools: z
    .array(BackendTools)
    .max(MAX_ITEMS)
    .default([])
    .describe('What is offered of single backends, and under which names.'),
  excludeAllTools: z
    .boolean()
    .default(false)
    .describe('Offer no tool at all, whatever `tools` says. Prompts and resources stay.'),
  defaultToolVisibility: z
    .enum(['allow', 'deny'])
    .default('allow')
    .describe('What happens to the tools of a backend without an entry in `tools`: all are offered, or none.'),
});
export type Aggregation = z.output<typeof Aggregation>;

withRules(Aggregation, [
  {
    at: 'conflictResolutionConfig.priorityOrder',
    says: 'is required when conflictResolution is priority',
    holds: ({ conflictResolution, conflictResolutionConfig }) =>
      conflictResolution !== 'priority' || conflictResolutionConfig.priorityOrder.length > 0,
    cel: "self.conflictResolution != 'priority' || self.conflictResolutionConfig.priorityOrder.size() > 0",
  },
  {
    at: 'tools',
    says: 'is required when conflictResolution is manual',
    holds: ({ conflictResolution, tools }) => conflictResolution !== 'manual' || tools.length > 0,
    cel: "self.conflictResolution != 'manual' || self.tools.size() > 0",
  },
  {
    at: 'tools',
    says: 'must not have two entries for one workload',
    holds: ({ tools }) =>
      tools.every(({ workload }) => tools.filter((other) => other.workload === workload).length === 1),
    cel: 'self.tools.all(t, self.tools.filter(o, o.workload == t.workload).size() == 1)',
  },
  {
    at: 'conflictResolutionConfig.priorityOrder',
    says: 'must name only workloads of tools when defaultToolVisibility is deny: no other backend offers a tool',
    holds: ({ conflictResolution, conflictResolutionConfig, defaultToolVisibility, tools }) =>
      conflictResolution !== 'priority' ||
      defaultToolVisibility !== 'deny' ||
      conflictResolutionConfig.priorityOrder.every((name) => tools.some(({ workload }) => workload === name)),
    cel: "self.conflictResolution != 'priority' || self.defaultToolVisibility != 'deny' || self.conflictResolutionConfig.priorityOrder.all(p, self.tools.exists(t, t.workload == p))",
  },
]);
