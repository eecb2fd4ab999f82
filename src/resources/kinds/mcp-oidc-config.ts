import { z } from 'zod';
import { requiredFor } from '../blocks/exclusive.ts';
import { CaBundleRef, SecretKeyRef } from '../fields/references.ts';
import { Text } from '../fields/text.ts';
import { AnyIssuerUrl, HttpUrl, isSecureUrl, SECURE_START } from '../fields/urls.ts';
import { type Rule, withRules } from '../traits.ts';
import { defineKind } from './kind.ts';

const Inline = z.strictObject({
  issuer: AnyIssuerUrl.describe('Issuer of the tokens; must equal their `iss` claim to the letter.'),
  clientId: Text.optional().describe('The name we use at the introspection endpoint.'),
  clientSecretRef: SecretKeyRef.optional().describe(
    'Client secret; with it opaque tokens are checked by introspection.',
  ),
  jwksUrl: HttpUrl.optional().describe('Where the signing keys are. Discovered from the issuer when not given.'),
  introspectionUrl: HttpUrl.optional().describe('Where opaque tokens are checked. Discovered when not given.'),
  jwksAllowPrivateIP: z
    .boolean()
    .default(false)
    .describe('Allow an issuer in a private network. Not needed with an embedded authorization server.'),
  insecureAllowHTTP: z
    .boolean()
    .default(false)
    .describe('Allow plain http to other machines. Whoever sits in between can forge logins: for development only.'),
  caBundleRef: CaBundleRef.optional().describe('Certificates to trust for the issuer.'),
});
type Inline = z.output<typeof Inline>;

withRules(Inline, [
  https('issuer', (inline) => inline.issuer),
  https('jwksUrl', (inline) => inline.jwksUrl),
  https('introspectionUrl', (inline) => inline.introspectionUrl),
  {
    at: 'clientId',
    says: 'is required together with clientSecretRef',
    holds: (inline) => inline.clientSecretRef === undefined || inline.clientId !== undefined,
    cel: '!has(self.clientSecretRef) || has(self.clientId)',
  },
]);

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

function https(
  field: 'issuer' | 'jwksUrl' | 'introspectionUrl',
  read: (inline: Inline) => string | undefined,
): Rule<Inline> {
  return {
    at: field,
    says: 'must be an https URL (http is for localhost, or with insecureAllowHTTP)',
    holds: (inline) => inline.insecureAllowHTTP || isSecureUrl(read(inline) ?? 'https://-'),
    cel: `!has(self.${field}) || self.insecureAllowHTTP || self.${field}.matches(r'${SECURE_START}')`,
  };
}
