import { describe, expect, it } from 'vitest';
import { Secret } from '../base/index.ts';
import { planStorage } from './storage.ts';

const TIMES = { dialTimeout: '5s', readTimeout: '3s', writeTimeout: '500ms' };
const ref = (name: string) => ({ name, key: 'value' });
const sources = { namespace: 'team', secretOf: ({ name }: { name: string }) => new Secret(`value of ${name}`) };

describe('the plan of a store', () => {
  it('is memory when nothing else was asked for', () => {
    expect(planStorage(undefined, sources)).toEqual({ kind: 'memory' });
    expect(planStorage({ type: 'memory' }, sources)).toEqual({ kind: 'memory' });
  });

  it('has addresses as host and port, an IPv6 host without its brackets', () => {
    const at = (addr: string, clusterMode = false) =>
      planStorage({ type: 'redis', redis: { addr, clusterMode, ...TIMES } }, sources);
    expect(at('redis.internal:6380')).toEqual({
      kind: 'redis',
      servers: { kind: 'single', address: { host: 'redis.internal', port: 6380 } },
      timeouts: { dial: 5_000, read: 3_000, write: 500 },
    });
    expect(at('[fd00::7]:6379', true)).toMatchObject({
      servers: { kind: 'cluster', address: { host: 'fd00::7', port: 6379 } },
    });
  });

  it('keeps the accounts and certificates of servers and sentinels apart', () => {
    const plan = planStorage(
      {
        type: 'redis',
        redis: {
          clusterMode: false,
          sentinelConfig: { masterName: 'm', sentinelAddrs: ['s-0:26379', 's-1:26379'], db: 2 },
          aclUserConfig: { usernameSecretRef: ref('user'), passwordSecretRef: ref('password') },
          sentinelAclUserConfig: { passwordSecretRef: ref('sentinel-password') },
          tls: { caCertSecretRef: ref('ca'), insecureSkipVerify: false },
          sentinelTls: { insecureSkipVerify: true },
          ...TIMES,
        },
      },
      sources,
    );
    expect(plan).toMatchObject({
      servers: { kind: 'sentinel', masterName: 'm', sentinels: [{ host: 's-0' }, { host: 's-1' }], db: 2 },
      tls: { ca: 'value of ca', verify: true },
    });
    if (plan.kind !== 'redis' || plan.servers.kind !== 'sentinel') throw new Error('not what was asked for');
    expect(plan.servers.tls).toEqual({ verify: false });
    expect(plan.account?.username?.reveal()).toBe('value of user');
    expect(plan.account?.password.reveal()).toBe('value of password');
    expect(plan.servers.account?.password.reveal()).toBe('value of sentinel-password');
    expect(plan.servers.account?.username).toBeUndefined();
    expect(JSON.stringify(plan)).not.toContain('value of password');
  });

  it('finds sentinels behind a Service, by default of its own namespace', () => {
    const service = (sentinelService: { name: string; namespace?: string; port: number }) =>
      planStorage(
        {
          type: 'redis',
          redis: { clusterMode: false, sentinelConfig: { masterName: 'm', sentinelService, db: 0 }, ...TIMES },
        },
        sources,
      );
    expect(service({ name: 'redis', port: 26379 })).toMatchObject({
      servers: { sentinels: [{ host: 'redis.team.svc.cluster.local', port: 26379 }] },
    });
    expect(service({ name: 'redis', namespace: 'data', port: 5000 })).toMatchObject({
      servers: { sentinels: [{ host: 'redis.data.svc.cluster.local', port: 5000 }] },
    });
  });
});
