import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, type Log } from '../../base/index.ts';

/** Marks a token as used, for the token that was given for it. Throws when somebody got another one for it. */
export type Mark = (successor: string) => Promise<void>;

/**
 * A refresh token that is marked as used before its successor is stored, and a process that dies in between, would cost a user his
 * login: his client comes again with the only token it has, and looks like a thief. So the mark is the last thing that is
 * written before the answer goes out.
 */
export interface Rotation {
  /** Runs what answers a refresh. What it consumes is marked when it calls the function that it is given. */
  run<T>(work: (markUsed: Mark) => Promise<T>): Promise<T>;
  /** Leaves a mark for later, if a refresh is under way here; says whether. */
  defer(mark: Mark): boolean;
}

/** How long a mark is tried again while the store is away. In milliseconds. */
const TRY_FOR = 60_000;
const TRY_AGAIN = 500;

export function createRotation(log: Log): Rotation {
  const underway = new AsyncLocalStorage<Mark[]>();

  /** The answer is stored and true. Nobody is the wiser if its mark comes a little later. */
  async function markLater(mark: Mark, successor: string): Promise<void> {
    for (const until = performance.now() + TRY_FOR; performance.now() < until; ) {
      await sleep(TRY_AGAIN, undefined, { ref: false });
      try {
        return await mark(successor);
      } catch (error) {
        if (codeOf(error) !== 'storage.unavailable') return; // it was used by somebody else too, and its login has ended
      }
    }
    log.error('a refresh token could not be marked as used');
  }

  return {
    run: (work) =>
      underway.run([], () => {
        const marks = underway.getStore() ?? [];
        return work(async (successor) => {
          for (const mark of marks.splice(0)) {
            try {
              await mark(successor);
            } catch (error) {
              if (codeOf(error) !== 'storage.unavailable') throw error;
              void markLater(mark, successor);
            }
          }
        });
      }),
    defer(mark) {
      const marks = underway.getStore();
      marks?.push(mark);
      return marks !== undefined;
    },
  };
}
