import { z } from 'zod';
import { CaBundleRef, SecretKeyRef } from '../fields/references.ts';
import { Text } from '../fields/text.ts';
import { AnyIssuerUrl, HttpUrl, isSecureUrl, SECURE_START } from '../fields/urls.ts';
import type { Rule } from '../traits.ts';

/** How the tokens of an issuer elsewhere are checked; the same fields inline and in an MCPOIDCConfig. */
export const issuerFields = {
  issuer: AnyIssuerUrl.describe('Issuer of the tokens; must equal their `iss` claim to the letter.'),
  clientId: Text.optional().describe('The name we use at the introspection endpoint.'),
  clientSecretRef: SecretKeyRef.optional().describe(
    'Client secret; with it opaque tokens are checked by introspection.',
  ),
  jwksUrl: HttpUrl.optional().describe('Where the signing keys are. Discovered from the issuer when not given.'),
  introspectionUrl: HttpUrl.optional().describe(
    'Where opaque tokens are checked. Discovered when not given and there is a client secret.',
  ),
  jwksAuthTokenPath: z
    .string()
    .max(1024)
    .regex(/^\/\P{Cc}+$/u, 'must be an absolute path')
    .optional()
    .describe('File with a bearer token for discovery and keys. Read for each request, so it may be rotated.'),
  jwksAllowPrivateIP: z
    .boolean()
    .default(false)
    .describe('Allow an issuer in a private network. Not needed with an embedded authorization server.'),
  insecureAllowHTTP: z
    .boolean()
    .default(false)
    .describe('Allow plain http to other machines. Whoever sits in between can forge logins: for development only.'),
  caBundleRef: CaBundleRef.optional().describe('Certificates to trust for the issuer.'),
};

export type IssuerAccess = z.output<z.ZodObject<typeof issuerFields>>;

export const issuerRules: readonly Rule<IssuerAccess>[] = [
  https('issuer'),
  https('jwksUrl'),
  https('introspectionUrl'),
  {
    at: 'clientId',
    says: 'is required together with clientSecretRef',
    holds: (access) => access.clientSecretRef === undefined || access.clientId !== undefined,
    cel: '!has(self.clientSecretRef) || has(self.clientId)',
  },
];

function https(field: 'issuer' | 'jwksUrl' | 'introspectionUrl'): Rule<IssuerAccess> {
  return {
    at: field,
    says: 'must be an https URL (http is for localhost, or with insecureAllowHTTP)',
    holds: (access) => access.insecureAllowHTTP || isSecureUrl(access[field] ?? 'https://-'),
    cel: `!has(self.${field}) || self.insecureAllowHTTP || self.${field}.matches(r'${SECURE_START}')`,
  };
}
