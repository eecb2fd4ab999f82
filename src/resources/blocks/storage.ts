import { z } from 'zod';
import { parseDuration } from '../../base/index.ts';
import { Duration } from '../fields/duration.ts';
import { DnsLabel } from '../fields/names.ts';
import { SecretKeyRef } from '../fields/references.ts';
import { Text } from '../fields/text.ts';
import { HostAndPort } from '../fields/urls.ts';
import { type Rule, withRules } from '../traits.ts';
import { blockOf } from './exclusive.ts';

const SentinelService = z.strictObject({
  name: DnsLabel.describe('Name of the Service.'),
  namespace: DnsLabel.optional().describe('Namespace of the Service; that of this resource when not given.'),
  port: z.int().min(1).max(65_535).default(26_379).describe('Port of the Service.'),
});

const Sentinel = z.strictObject({
  masterName: Text.max(256).describe('Name under which the sentinels know the master.'),
  sentinelAddrs: z
    .array(HostAndPort)
    .min(1, 'must name at least one sentinel')
    .max(16)
    .optional()
    .describe('Addresses of the sentinels. Those that they know besides are learnt from them.'),
  sentinelService: SentinelService.optional().describe('A Service of the cluster in front of the sentinels.'),
  db: z.int().min(0).max(15).default(0).describe('Number of the database.'),
});
withRules(Sentinel, [
  {
    at: 'sentinelAddrs',
    says: 'is required, or sentinelService instead of it; only one of the two',
    holds: (sentinel) => (sentinel.sentinelAddrs === undefined) !== (sentinel.sentinelService === undefined),
    cel: 'has(self.sentinelAddrs) != has(self.sentinelService)',
  },
]);

const AclUser = z.strictObject({
  usernameSecretRef: SecretKeyRef.optional().describe('User name; the default user when not given.'),
  passwordSecretRef: SecretKeyRef.describe('Password of the user.'),
});

const Tls = z.strictObject({
  caCertSecretRef: SecretKeyRef.optional().describe('PEM certificates to trust instead of those of the system.'),
  insecureSkipVerify: z
    .boolean()
    .default(false)
    .describe('Take any certificate. Whoever sits in between then reads everything: for development only.'),
});

const Redis = z.strictObject({
  addr: HostAndPort.optional().describe('Address of a single server, or of any server of a cluster.'),
  clusterMode: z.boolean().default(false).describe('The server at `addr` belongs to a cluster.'),
  sentinelConfig: Sentinel.optional().describe('A replicated store that sentinels watch over.'),
  aclUserConfig: AclUser.optional().describe('Whom to log in as.'),
  sentinelAclUserConfig: AclUser.optional().describe('Whom to log in as at the sentinels; nobody when not given.'),
  tls: Tls.optional().describe('Present, even empty: connect with TLS.'),
  sentinelTls: Tls.optional().describe('Present, even empty: connect to the sentinels with TLS.'),
  dialTimeout: Duration.default('5s').describe('Longest wait for a connection, from 100ms to 1m.'),
  readTimeout: Duration.default('3s').describe('Longest wait for an answer, from 100ms to 1m.'),
  writeTimeout: Duration.default('3s').describe(
    'How long requests wait when the connection broke, from 100ms to 1m. Once it is over they fail at once until the store is back.',
  ),
});
type Redis = z.output<typeof Redis>;

withRules(Redis, [
  {
    at: 'addr',
    says: 'is required, or sentinelConfig instead of it; only one of the two',
    holds: (redis) => (redis.addr === undefined) !== (redis.sentinelConfig === undefined),
    cel: 'has(self.addr) != has(self.sentinelConfig)',
  },
  {
    at: 'clusterMode',
    says: 'needs addr, a server of the cluster',
    holds: (redis) => !redis.clusterMode || redis.addr !== undefined,
    cel: '!self.clusterMode || has(self.addr)',
  },
  onlyWithSentinels('sentinelAclUserConfig'),
  onlyWithSentinels('sentinelTls'),
  ofUsefulLength('dialTimeout'),
  ofUsefulLength('readTimeout'),
  ofUsefulLength('writeTimeout'),
]);

export const Storage = z.strictObject({
  type: z
    .enum(['memory', 'redis'])
    .describe('`memory` is lost on restart; `redis` outlives it and is shared by replicas.'),
  redis: Redis.optional().describe('The store, for type `redis`.'),
});
export type Storage = z.output<typeof Storage>;

withRules(Storage, blockOf<Storage>('redis', 'redis'));

function onlyWithSentinels(field: 'sentinelAclUserConfig' | 'sentinelTls'): Rule<Redis> {
  return {
    at: field,
    says: 'is allowed only with sentinelConfig',
    holds: (redis) => redis[field] === undefined || redis.sentinelConfig !== undefined,
    cel: `!has(self.${field}) || has(self.sentinelConfig)`,
  };
}

function ofUsefulLength(field: 'dialTimeout' | 'readTimeout' | 'writeTimeout'): Rule<Redis> {
  const ms = (text: string): number => parseDuration(text) ?? Number.NaN;
  return {
    at: field,
    says: 'must be from 100ms to 1m',
    holds: (redis) => ms(redis[field]) >= ms('100ms') && ms(redis[field]) <= ms('1m'),
    cel: `duration(self.${field}) >= duration('100ms') && duration(self.${field}) <= duration('1m')`,
  };
}
