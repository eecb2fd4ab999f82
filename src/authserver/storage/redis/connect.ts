import type { Cluster, Redis, RedisOptions } from 'ioredis';
import type { RedisAddress, RedisPlan } from '../../../plan/index.ts';
import { isDemoted } from './failure.ts';
import { backoff, logIn, NOTHING_BEHIND_OUR_BACK } from './options.ts';
import { createSentinels, isSame, type Library, type SentinelPlan } from './sentinels.ts';
import { createConnector } from './socket.ts';

export type Client = Redis | Cluster;

/** Two ways to one store: a connection that listens can do nothing else. */
export interface Connections {
  readonly client: Client;
  readonly listener: Redis;
  /** Where servers have replicas and may be replaced: whether the one that is connected is still the master. */
  readonly isMaster?: () => Promise<boolean>;
  close(): void;
}

/** Clients that are connecting. Heavy to load, so only who has such a store pays for the library. */
export async function connect(plan: RedisPlan): Promise<Connections> {
  const library = await import('ioredis');
  const { servers } = plan;
  switch (servers.kind) {
    case 'single':
      return withListener(toServer(library, plan, servers.address), toServer(library, plan, servers.address));
    case 'sentinel':
      return toMaster(library, plan, servers);
    case 'cluster':
      // Every server of a cluster passes on what any of them was told, so listening to one is enough.
      return withListener(toCluster(library, plan, servers.address), toServer(library, plan, servers.address));
  }
}

function withListener(client: Client, listener: Redis): Connections {
  return { client, listener, close: () => closeAll(client, listener) };
}

function closeAll(...clients: readonly Client[]): void {
  for (const client of clients) client.disconnect();
}

function toServer({ AbstractConnector, Redis }: Library, plan: RedisPlan, address: RedisAddress): Redis {
  const Connector = createConnector(AbstractConnector, { tls: plan.tls, within: plan.timeouts.dial });
  return new Redis({ ...optionsOf(plan), ...address, Connector });
}

function toMaster({ AbstractConnector, Redis }: Library, plan: RedisPlan, servers: SentinelPlan): Connections {
  const sentinels = createSentinels({ AbstractConnector, Redis }, servers);

  function create(): { readonly client: Redis; readonly isMaster: () => Promise<boolean> } {
    let current: RedisAddress | undefined;
    const Connector = createConnector(AbstractConnector, {
      locate: sentinels.master,
      connected: (address) => {
        current = address;
      },
      tls: plan.tls,
      within: plan.timeouts.dial,
      role: 'master',
    });
    const client = new Redis({ ...optionsOf(plan), db: servers.db, Connector, reconnectOnError: isDemoted });
    sentinels.watch((master) => {
      if (current && client.status === 'ready' && !isSame(current, master)) client.disconnect(true);
    });
    return { client, isMaster: async () => current !== undefined && (await sentinels.trust(current)) };
  }

  const { client, isMaster } = create();
  const { client: listener } = create();
  return {
    client,
    listener,
    isMaster,
    close() {
      closeAll(client, listener);
      sentinels.close();
    },
  };
}

function toCluster(
  { AbstractConnector, Cluster }: Library & { readonly Cluster: typeof import('ioredis').Cluster },
  plan: RedisPlan,
  address: RedisAddress,
): Cluster {
  const { dial, read } = plan.timeouts;
  const Connector = createConnector(AbstractConnector, { tls: plan.tls, within: dial });
  return new Cluster([{ ...address }], {
    enableOfflineQueue: false,
    // Zero: a command whose connection broke is not repeated.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: read,
    clusterRetryStrategy: backoff,
    // Names stay names, since certificates are made out to them.
    dnsLookup: (name, found) => found(null, name),
    redisOptions: { ...optionsOf(plan), Connector },
  });
}

function optionsOf({ account, timeouts }: RedisPlan) {
  return {
    ...NOTHING_BEHIND_OUR_BACK,
    ...logIn(account),
    commandTimeout: timeouts.read,
    retryStrategy: backoff,
    connectionName: 'sallyport',
    autoResubscribe: false, // `listen.ts` has to know when it is done
    disableClientInfo: true,
  } satisfies RedisOptions;
}
