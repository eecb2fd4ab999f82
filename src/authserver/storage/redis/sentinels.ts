import type { AbstractConnector, Redis } from 'ioredis';
import type { RedisAddress, RedisPlan } from '../../../plan/index.ts';
import { backoff, logIn, NOTHING_BEHIND_OUR_BACK } from './options.ts';
import { createConnector } from './socket.ts';

export type SentinelPlan = Extract<RedisPlan['servers'], { kind: 'sentinel' }>;

export interface Library {
  readonly Redis: typeof Redis;
  readonly AbstractConnector: typeof AbstractConnector;
}

/** Those who know which server is the master, and choose another when it fails. */
export interface Sentinels {
  /** Whom most of them name. Fails with the reason of one of them when none can tell. */
  master(): Promise<RedisAddress>;
  /** Whether most of them answer, the newest decision is for this server, and none is about to replace it. */
  trust(server: RedisAddress): Promise<boolean>;
  /** Tells again and again which it is: a master that hangs keeps its connections and would be believed forever. */
  watch(tell: (master: RedisAddress) => void): void;
  close(): void;
}

/** What one sentinel thinks. */
interface View {
  readonly master: RedisAddress;
  /** Counts the decisions; a sentinel that was cut off has missed the latest. */
  readonly epoch: number;
  readonly isFailing: boolean;
}

const ANSWER_WITHIN = 1_000;
const LOOK_EVERY = 1_000;
const MOST = 16;
/** Sentinels move; one that others named and that is away for this long is forgotten. */
const FORGET_AFTER = 60_000;

interface Sentinel {
  readonly client: Redis;
  readonly isConfigured: boolean;
  /** Why it cannot be asked, and since when. */
  complaint?: { readonly error: Error; readonly since: number } | undefined;
}

export function createSentinels({ AbstractConnector, Redis }: Library, plan: SentinelPlan): Sentinels {
  const sentinels = new Map<string, Sentinel>();
  const told: ((master: RedisAddress) => void)[] = [];
  const dialling = { tls: plan.tls, within: ANSWER_WITHIN };
  for (const address of plan.sentinels) add(address, true);

  function add({ host, port }: RedisAddress, isConfigured: boolean): void {
    const name = `${host} ${port}`;
    if (sentinels.has(name) || sentinels.size >= MOST) return;
    const client = new Redis({
      ...NOTHING_BEHIND_OUR_BACK,
      ...logIn(plan.account),
      // Questions wait for the connection, which is as long as they may take at most.
      enableOfflineQueue: true,
      commandTimeout: ANSWER_WITHIN,
      Connector: createConnector(AbstractConnector, dialling),
      enableReadyCheck: false,
      disableClientInfo: true,
      retryStrategy: backoff,
      host,
      port,
    });
    const sentinel: Sentinel = { client, isConfigured };
    client.on('error', (error: Error) => {
      sentinel.complaint = { error, since: sentinel.complaint?.since ?? performance.now() };
    });
    client.on('ready', () => {
      sentinel.complaint = undefined;
    });
    sentinels.set(name, sentinel);
  }

  function forgetTheLost(): void {
    for (const [name, { client, complaint, isConfigured }] of sentinels) {
      if (isConfigured || !complaint || performance.now() - complaint.since < FORGET_AFTER) continue;
      client.disconnect();
      sentinels.delete(name);
    }
  }

  async function ask({ client }: Sentinel): Promise<View> {
    const field = fieldsOf(await client.call('SENTINEL', 'master', plan.masterName));
    return {
      master: { host: field('ip'), port: Number(field('port')) },
      epoch: Number(field('config-epoch')),
      isFailing: /\b(o_down|failover_in_progress)\b/.test(field('flags')),
    };
  }

  /** Sentinels behind one address, as that of a Service, know each other. */
  async function learn({ client }: Sentinel): Promise<void> {
    const others = await client.call('SENTINEL', 'sentinels', plan.masterName).catch(() => []);
    for (const other of Array.isArray(others) ? others : []) {
      const field = fieldsOf(other);
      if (field('ip') !== '' && Number(field('port')) > 0)
        add({ host: field('ip'), port: Number(field('port')) }, false);
    }
  }

  /** Asks all, and tells `heard` of each answer as it comes. */
  async function views(heard: (view: View) => void = () => {}): Promise<readonly View[]> {
    const found: View[] = [];
    const refusals: Error[] = [];
    const asked = [...sentinels.values()].map(async (sentinel) => {
      try {
        const view = await ask(sentinel);
        found.push(view);
        heard(view);
      } catch (error) {
        refusals.push(sentinel.complaint?.error ?? (error as Error));
      }
    });
    await Promise.all(asked);
    if (found.length > 0) return found;
    throw new Error(`no sentinel names the master: ${refusals[0]?.message ?? 'there is none left'}`);
  }

  /** Does not wait for the slow ones once more than half agree. */
  async function agreed(): Promise<RedisAddress> {
    const heard: RedisAddress[] = [];
    const { promise: early, resolve } = Promise.withResolvers<RedisAddress>();
    const all = views(({ master }) => {
      heard.push(master);
      if (heard.filter((other) => isSame(master, other)).length > sentinels.size / 2) resolve(master);
    });
    return Promise.race([early, all.then((found) => newest(found).master)]);
  }

  const look = setInterval(() => {
    forgetTheLost();
    void views().then((found) => {
      for (const tell of told) tell(newest(found).master);
    }, ignoreSilence);
  }, LOOK_EVERY).unref();

  return {
    async master() {
      const found = await agreed();
      for (const sentinel of [...sentinels.values()]) void learn(sentinel);
      return found;
    },
    async trust(server) {
      const found = await views();
      const isHeard = found.length > sentinels.size / 2;
      return isHeard && isSame(newest(found).master, server) && !found.some(({ isFailing }) => isFailing);
    },
    watch: (tell) => void told.push(tell),
    close() {
      clearInterval(look);
      for (const { client } of sentinels.values()) client.disconnect();
      sentinels.clear();
    },
  };
}

function newest(views: readonly View[]): View {
  return views.reduce((latest, view) => (view.epoch > latest.epoch ? view : latest));
}

/** Names and values in turn, as sentinels describe servers. */
function fieldsOf(answer: unknown): (name: string) => string {
  const words = (Array.isArray(answer) ? answer : []).map(String);
  return (name) => {
    const at = words.findIndex((word, index) => index % 2 === 0 && word === name);
    return at < 0 ? '' : (words[at + 1] ?? '');
  };
}

export function isSame(one: RedisAddress, other: RedisAddress): boolean {
  return one.host === other.host && one.port === other.port;
}

/** Sentinels that do not answer say nothing against the master that does. */
function ignoreSilence(): void {}
