import { z } from 'zod';
import { refersTo } from '../traits.ts';
import { DataKey, DnsLabel, DnsSubdomain } from './names.ts';

/** References name a resource of the same namespace, never of another one: a namespace is a wall. */
const named = { name: DnsSubdomain.describe('Name of the resource, in the same namespace.') };

export const SecretKeyRef = refersTo(
  'Secret',
  z.strictObject({
    name: DnsSubdomain.describe('Name of the Secret, in the same namespace.'),
    key: DataKey.describe('The key whose value is used.'),
  }),
);
export type SecretKeyRef = z.output<typeof SecretKeyRef>;

const ConfigMapKeyRef = refersTo(
  'ConfigMap',
  z.strictObject({
    name: DnsSubdomain.describe('Name of the ConfigMap, in the same namespace.'),
    key: DataKey.default('ca.crt').describe('The key whose value is used.'),
  }),
);

/** Certificates to trust for one address, besides those of the system. */
export const CaBundleRef = z.strictObject({
  configMapRef: ConfigMapKeyRef.describe('ConfigMap entry with one or more PEM certificates.'),
});

export const GroupRef = refersTo(
  'MCPGroup',
  z.strictObject({ name: DnsLabel.describe('Name of the MCPGroup, in the same namespace.') }),
);

export const ExternalAuthConfigRef = refersTo('MCPExternalAuthConfig', z.strictObject(named));

/** Manifests of ToolHive write the kind too. There is one. */
export const AuthServerRef = refersTo(
  'MCPExternalAuthConfig',
  z.strictObject({
    kind: z.enum(['MCPExternalAuthConfig']).default('MCPExternalAuthConfig').describe('Kind of the resource.'),
    ...named,
  }),
);
