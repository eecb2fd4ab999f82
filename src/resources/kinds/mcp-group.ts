import { z } from 'zod';
import { defineKind } from './kind.ts';

export const MCPGroupSpec = z.strictObject({
  description: z.string().max(1024).optional().describe('What the group is for, in your words.'),
});
export type MCPGroupSpec = z.output<typeof MCPGroupSpec>;

export const MCPGroup = defineKind({
  kind: 'MCPGroup',
  plural: 'mcpgroups',
  shortNames: ['mcpg'],
  api: 'ours',
  names: 'label',
  columns: [{ name: 'Description', path: '.spec.description' }],
  about: `A set of backends under one name.

Servers join by naming the group in their \`groupRef\`. Backend names are unique in a group, across MCPServer and
MCPServerEntry. A group without members is fine: it serves empty lists until one joins.`,
  example: `apiVersion: sallyport.dev/v1alpha1
kind: MCPGroup
metadata:
  name: desk-tools
spec:
  description: What the support desk works with
`,
  body: z.strictObject({ spec: MCPGroupSpec.prefault({}).describe('May be left out.') }),
});
