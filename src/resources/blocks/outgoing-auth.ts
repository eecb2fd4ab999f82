import { z } from 'zod';
import { DnsLabel } from '../fields/names.ts';
import { ExternalAuthConfigRef } from '../fields/references.ts';
import { withRules } from '../traits.ts';
import { requiredFor } from './exclusive.ts';

const BackendAuth = z.strictObject({
  type: z.enum(['externalAuthConfigRef']).describe('Where the credential of this backend is described.'),
  externalAuthConfigRef: ExternalAuthConfigRef.optional().describe('The MCPExternalAuthConfig for this backend.'),
});
withRules(BackendAuth, [requiredFor('externalAuthConfigRef', 'externalAuthConfigRef')]);

export const OutgoingAuth = z.strictObject({
  source: z
    .enum(['discovered', 'inline'])
    .default('discovered')
    .describe(
      '`discovered`: each backend follows its own `externalAuthConfigRef`. `inline`: the map below decides and a backend that is not in it gets no credential.',
    ),
  backends: z
    .record(DnsLabel, BackendAuth)
    .optional()
    .describe('Credential per backend; the key is the name of a backend in the group. Only with source `inline`.'),
});
export type OutgoingAuth = z.output<typeof OutgoingAuth>;

withRules(OutgoingAuth, [
  {
    at: 'backends',
    says: 'is allowed only when source is inline',
    holds: (auth) => auth.source === 'inline' || auth.backends === undefined,
    cel: "self.source == 'inline' || !has(self.backends)",
  },
]);
