import { z } from 'zod';
import { DataKey } from '../fields/names.ts';
import { defineKind } from './kind.ts';

export const ConfigMap = defineKind({
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: [],
  api: 'core',
  names: 'domain',
  columns: [],
  about: `The ConfigMap of Kubernetes, for texts that other resources refer to: certificates and permission profiles.`,
  example: `apiVersion: v1
kind: ConfigMap
metadata:
  name: profiles
data:
  tickets.json: |
    { "network": { "outbound": { "allow_host": ["tickets.example.net"], "allow_port": [443] } } }
`,
  body: z.strictObject({
    data: z.record(DataKey, z.string()).optional().describe('Texts by key.'),
  }),
});
