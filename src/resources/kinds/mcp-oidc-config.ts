import { z } from 'zod';
import { requiredFor } from '../blocks/exclusive.ts';
import { issuerFields, issuerRules } from '../blocks/issuer-access.ts';
import { withRules } from '../traits.ts';
import { defineKind } from './kind.ts';

const Inline = withRules(z.strictObject(issuerFields), issuerRules);

export const MCPOIDCConfigSpec = z.strictObject({
  type: z.enum(['inline']).describe('Where the settings are.'),
  inline: Inline.optional().describe('The settings, for type `inline`.'),
});
export type MCPOIDCConfigSpec = z.output<typeof MCPOIDCConfigSpec>;

withRules(MCPOIDCConfigSpec, [requiredFor('inline', 'inline')]);

export const MCPOIDCConfig = defineKind({
  kind: 'MCPOIDCConfig',
  plural: 'mcpoidcconfigs',
  shortNames: ['mcpoidc'],
  api: 'ours',
  names: 'domain',
  columns: [{ name: 'Issuer', path: '.spec.inline.issuer' }],
  about: `How tokens of one issuer are validated, to be shared by several servers.

The audience is not here but at each reference, because it belongs to the server that is called. For a VirtualMCPServer
with an embedded authorization server the issuer equals its \`authServerConfig.issuer\`; the keys then never leave the process.`,
  example: `apiVersion: sallyport.dev/v1alpha1
kind: MCPOIDCConfig
metadata:
  name: desk-login
spec:
  type: inline
  inline:
    issuer: https://desk.example.net
`,
  body: z.strictObject({ spec: MCPOIDCConfigSpec.describe('The issuer and how to check its tokens.') }),
});
