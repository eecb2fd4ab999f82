import { z } from 'zod';
import { Duration } from '../fields/duration.ts';
import { SecretKeyRef } from '../fields/references.ts';
import { Text } from '../fields/text.ts';
import { HostAndPort } from '../fields/urls.ts';
import { withRules } from '../traits.ts';
import { blockOf } from './exclusive.ts';

const Sentinel = z.strictObject({
  masterName: Text.max(256).describe('Name under which the sentinels know the master.'),
  sentinelAddrs: z
    .array(HostAndPort)
    .min(1, 'must name at least one sentinel')
    .max(16)
    .describe('Addresses of the sentinels.'),
  db: z.int().min(0).max(15).default(0).describe('Number of the database.'),
});

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
  addr: HostAndPort.optional().describe('Address of a single server.'),
  sentinelConfig: Sentinel.optional().describe('A replicated store that sentinels watch over.'),
  aclUserConfig: AclUser.optional().describe('Whom to log in as.'),
  tls: Tls.optional().describe('Present, even empty: connect with TLS.'),
  dialTimeout: Duration.default('5s').describe('Longest wait for a connection.'),
  readTimeout: Duration.default('3s').describe('Longest wait for an answer.'),
  writeTimeout: Duration.default('3s').describe('Longest wait to hand over a command.'),
});
withRules(Redis, [
  {
    at: 'addr',
    says: 'is required, or sentinelConfig instead of it; only one of the two',
    holds: (redis) => (redis.addr === undefined) !== (redis.sentinelConfig === undefined),
    cel: 'has(self.addr) != has(self.sentinelConfig)',
  },
]);

export const Storage = z.strictObject({
  type: z
    .enum(['memory', 'redis'])
    .describe('`memory` is lost on restart; `redis` outlives it and is shared by replicas.'),
  redis: Redis.optional().describe('The store, for type `redis`.'),
});
export type Storage = z.output<typeof Storage>;

withRules(Storage, blockOf<Storage>('redis', 'redis'));
