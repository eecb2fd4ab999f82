import type { Log } from '../../../base/index.ts';
import type { Client } from './connect.ts';

/** Resolves when the replicas have everything that was written before, or when it is clear that they will not say so. */
export type Confirm = () => Promise<void>;

export interface ConfirmParts {
  readonly where: string;
  readonly log: Log;
  /** Whether the server that we are connected to is still the master. */
  readonly isMaster: () => Promise<boolean>;
  /** Milliseconds. */
  readonly answerWithin: number;
}

/** Replicas in the same network need about a millisecond. */
const WITHIN_MOST = 300;
const COUNT_EVERY = 1_000;
/** How long nobody waits for replicas that were too slow. */
const PAUSE = 5_000;
const ALONE = 'no replica confirms writes: they are lost if the server is';
const FEWER = 'not every replica confirms writes: they are lost if one that does not becomes the master';
/** Replicas report every second; one that has been silent for longer than this many is not waited for. */
const SILENT = 2;

/**
 * Redis answers before its replicas know, and what only a dead master knew is gone. So every write is followed by a WAIT for all
 * replicas that are there. One would not do: sentinels choose by offsets that they learnt seconds ago, so any may be next.
 * WAIT holds up the connection, so one is under way at a time and writers share the next.
 *
 * A replica that is missing has failed, or has become the master: then this server does not know yet that it is none, and what
 * it takes will be thrown away. The sentinels know, and are asked for each write. If they stand by the server we go on and
 * say so; `min-replicas-to-write` is there for who would rather stop.
 */
export function createConfirm(client: Client, { where, log, isMaster, answerWithin }: ConfirmParts): Confirm {
  // Well before the question itself counts as unanswered.
  const within = String(Math.min(WITHIN_MOST, Math.floor(answerWithin / 2)));
  let replicas = 0;
  /** The most there were on this connection. */
  let known = 0;
  let countAgainAt = 0;
  let lastSaid = '';
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  // Another connection may be one to another master.
  client.on('ready', () => {
    countAgainAt = 0;
    known = 0;
  });

  async function ask(): Promise<void> {
    if (performance.now() >= countAgainAt) {
      replicas = countReplicas(String(await client.call('INFO', 'replication')));
      countAgainAt = performance.now() + COUNT_EVERY;
    }
    known = Math.max(known, replicas);
    if (replicas > 0) {
      const confirmed = Number(await client.call('WAIT', String(replicas), within));
      if (confirmed < replicas) countAgainAt = performance.now() + PAUSE;
      replicas = Math.min(replicas, confirmed);
    }
    if (replicas > 0 && replicas === known) return say('');
    if (!(await isMaster())) throw new Error('too few replicas, and the sentinels do not stand by the server');
    say(replicas === 0 ? ALONE : FEWER);
  }

  function say(complaint: string): void {
    if (complaint === lastSaid) return;
    if (complaint === '') log.info('all replicas confirm writes', { storage: where });
    else log.warn(complaint, { storage: where });
    lastSaid = complaint;
  }

  function start(): Promise<void> {
    const asked = ask().finally(() => {
      if (running === asked) running = undefined;
    });
    running = asked;
    return asked;
  }

  return function confirm() {
    if (!running) return start();
    // The one under way may have been sent before our write.
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}

/** Lines such as `slave0:ip=10.0.0.7,port=6379,state=online,offset=42,lag=0`. */
function countReplicas(info: string): number {
  const lines = info.match(/^slave\d+:.*\bstate=online\b.*$/gm) ?? [];
  return lines.filter((line) => Number(/\blag=(\d+)/.exec(line)?.[1]) <= SILENT).length;
}
