import { z } from 'zod';
import { DataKey } from '../fields/names.ts';
import { defineKind } from './kind.ts';

const Base64 = z
  .string()
  .regex(/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'must be base64 (RFC 4648 §4, with padding)')
  .meta({ title: 'base64' });

export const SecretKind = defineKind({
  kind: 'Secret',
  plural: 'secrets',
  shortNames: [],
  api: 'core',
  names: 'domain',
  columns: [],
  about: `The Secret of Kubernetes, for values that other resources refer to by name and key.

Files with Secrets do not belong into a repository. Instead of declaring one, a value can come from the environment or
from a file; the reference in the other resources stays the same.`,
  example: `apiVersion: v1
kind: Secret
metadata:
  name: corp-client
type: Opaque
stringData:
  secret: a-value-from-your-identity-provider
`,
  body: z.strictObject({
    type: z.string().max(253).default('Opaque').describe('A hint for tools; the keys are what counts.'),
    stringData: z.record(DataKey, z.string()).optional().describe('Values as text. They win over `data`.'),
    data: z.record(DataKey, Base64).optional().describe('Values in base64, as the API server prints them.'),
  }),
});
