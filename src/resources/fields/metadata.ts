import { z } from 'zod';
import { DnsLabel, DnsSubdomain } from './names.ts';
import { Text } from './text.ts';

/** Fields the API server fills in. They are accepted so that the output of `kubectl get -o yaml` loads as it is. */
const serverSet = z.unknown().optional().describe('Written by the Kubernetes API server; has no meaning here.');

const NAME = 'Name of the resource, unique among its kind and namespace.';

const rest = {
  namespace: DnsLabel.default('default').describe('Resources refer only to resources of their own namespace.'),
  labels: z.record(Text, z.string().max(63)).optional().describe('Labels for people and selectors.'),
  annotations: z.record(Text, z.string()).optional().describe('Notes for people and tools.'),
  uid: serverSet,
  resourceVersion: serverSet,
  generation: serverSet,
  generateName: serverSet,
  creationTimestamp: serverSet,
  deletionTimestamp: serverSet,
  deletionGracePeriodSeconds: serverSet,
  selfLink: serverSet,
  managedFields: serverSet,
  ownerReferences: serverSet,
  finalizers: serverSet,
};

/** For kinds whose name becomes a host name, a container name or a path. */
export const LabelMetadata = z.strictObject({ name: DnsLabel.describe(NAME), ...rest });

/** For kinds that are only referred to; Kubernetes allows dots in their names. */
export const DomainMetadata = z.strictObject({ name: DnsSubdomain.describe(NAME), ...rest });

/** What of the metadata reaches the rest of the program. */
export type Metadata = Pick<z.output<typeof DomainMetadata>, 'name' | 'namespace' | 'labels' | 'annotations'>;
