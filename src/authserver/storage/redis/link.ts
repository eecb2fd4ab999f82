import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../base/index.ts';
import type { RedisPlan } from '../../../plan/index.ts';
import type { Client } from './connect.ts';
import { executed, isPermanent, isTimeout, unavailable, withoutArguments } from './failure.ts';

export interface LinkParts {
  readonly client: Client;
  readonly plan: RedisPlan;
  /** What to call the servers in messages. */
  readonly where: string;
  readonly log: Log;
}

/** `again` says that an earlier try may have been carried out. */
export type Command<T> = (client: Client, again: boolean) => Promise<T>;

/** One connection, or one for each server of a cluster: commands either get an answer in time or fail with `storage.unavailable`. */
export interface Link {
  run<T>(command: Command<T>, options: RunOptions): Promise<T>;
  /** Counts the connections there were. What two commands say about each other holds only within one. */
  epoch(): number;
  isUp(): boolean;
  /** Whether the servers came back a moment ago, after they had given no answer for this many milliseconds. */
  isBackAfter(away: number): boolean;
  /** Waits for the first connection, and fails when there is none in time or a setting is wrong. */
  opened(): Promise<void>;
  close(): void;
}

export interface RunOptions {
  /** Whether the command may be tried again when nobody knows if it was carried out. */
  readonly repeatable: boolean;
}

const PAUSE = 25;
/** How long it takes every process to connect again and to write what had to wait. */
const MOMENT = 3_000;
/** Requests that wait for a connection at the same time. */
const MOST_WAITING = 1_000;

export function createLink({ client, plan, where, log }: LinkParts): Link {
  const { dial, read, write } = plan.timeouts;
  let epoch = 0;
  let lastError: unknown;
  let downSince: number | undefined = performance.now();
  let wasUp = false;
  let answeredAt = performance.now();
  let back: { readonly at: number; readonly away: number } | undefined;
  let isClosed = false;
  let waiting = 0;
  const wakers = new Set<() => void>();

  const isUp = (): boolean => client.status === 'ready' && downSince === undefined;

  function wake(): void {
    for (const waker of wakers) waker();
    wakers.clear();
  }

  client.on('ready', () => {
    downSince = undefined;
    lastError = undefined;
    if (wasUp) {
      const at = performance.now();
      back = { at, away: at - answeredAt };
      log.info('storage is back', { storage: where });
    }
    wasUp = true;
    wake();
  });
  client.on('close', () => lost(undefined));
  client.on('end', () => lost(undefined));
  client.on('error', note);
  client.on('node error', note);

  function note(error: Error): void {
    lastError = error;
    if (!wasUp) wake();
    log.debug('storage connection failed', { storage: where, error: withoutArguments(error) });
  }

  function lost(reason: unknown): void {
    epoch++;
    if (downSince !== undefined) return;
    downSince = performance.now();
    lastError = reason ?? lastError;
    const why = lastError === undefined ? {} : { error: withoutArguments(lastError) };
    if (!isClosed) log.warn('storage is away', { storage: where, ...why });
  }

  /** A server that does not answer is left: the next connection may lead to another one. */
  function abandon(since: number, error: unknown): void {
    if (since !== epoch || !isUp()) return;
    lost(error);
    client.disconnect(true);
  }

  async function nextChange(within: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, within);
    wakers.add(resolve);
    await promise;
    clearTimeout(timer);
    wakers.delete(resolve);
  }

  /** Requests wait while a connection that broke may come back at once, and no longer: `write` counts from when it broke. */
  async function usable(): Promise<void> {
    while (!isUp()) {
      const left = (downSince ?? performance.now()) + write - performance.now();
      if (isClosed || left <= 0 || waiting >= MOST_WAITING) throw unavailable(where, lastError);
      waiting++;
      await nextChange(left);
      waiting--;
    }
  }

  async function run<T>(command: Command<T>, { repeatable }: RunOptions): Promise<T> {
    const until = performance.now() + write;
    for (let again = false; ; ) {
      await usable();
      const since = epoch;
      try {
        const answer = await command(client, again);
        answeredAt = performance.now();
        return answer;
      } catch (error) {
        if (isTimeout(error)) abandon(since, error);
        const wasExecuted = executed(error);
        const isOver = performance.now() + PAUSE > until || isPermanent(error);
        if (isOver || (wasExecuted === 'unknown' && !repeatable)) throw unavailable(where, error);
        again ||= wasExecuted === 'unknown';
        await sleep(PAUSE);
      }
    }
  }

  return {
    run,
    isUp,
    epoch: () => epoch,
    isBackAfter: (away) => back !== undefined && back.away > away && performance.now() - back.at < MOMENT,
    async opened() {
      const until = performance.now() + dial + read;
      while (!isUp()) {
        const left = until - performance.now();
        if (isClosed || left <= 0 || isPermanent(lastError)) throw unavailable(where, lastError);
        await nextChange(left);
      }
    },
    close() {
      isClosed = true;
      wake();
    },
  };
}
