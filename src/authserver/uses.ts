import type { Log } from '../base/index.ts';
import { type LoginRecord, type Logins, latest, type Use } from './logins.ts';

/** When logins are used. Every call tells, so telling costs next to nothing, and it is written down once a minute. */
export interface Uses {
  /** Somebody came with a token of this login, or with `provider`, got what it has there. */
  note(grantId: string, provider?: string): void;
  /** The login with what is not written down yet. */
  upToDate(login: LoginRecord): LoginRecord;
  /** Writes down what is left. */
  close(): Promise<void>;
}

export interface UseParts {
  readonly logins: Pick<Logins, 'used'>;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const EVERY = 60_000;
/** So many logins are used in a minute, at most, for which we know when. */
const MOST = 20_000;
const AT_ONCE = 8;

interface Noted {
  at: number;
  readonly providers: Map<string, number>;
}

export function createUses({ logins, log, now }: UseParts): Uses {
  let noted = new Map<string, Noted>();
  let writing: ReadonlyMap<string, Noted> = new Map();
  let timer: NodeJS.Timeout | undefined;
  let written = Promise.resolve();

  function entryOf(grantId: string): Noted | undefined {
    const known = noted.get(grantId);
    if (known || noted.size >= MOST) return known;
    const made: Noted = { at: 0, providers: new Map() };
    noted.set(grantId, made);
    timer ??= setTimeout(() => void writeDown(), EVERY).unref();
    return made;
  }

  /** One after the other, however slow the store is. Never rejects. */
  function writeDown(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    written = written.then(write);
    return written;
  }

  async function write(): Promise<void> {
    [writing, noted] = [noted, new Map()];
    const left = [...writing];
    const worker = async (): Promise<void> => {
      for (let next = left.pop(); next; next = left.pop()) await logins.used(next[0], useOf(next[1]));
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    } catch (error) {
      left.length = 0;
      log.warn('when logins were last used was not written down', { error });
    } finally {
      writing = new Map();
    }
  }

  return {
    note(grantId, provider) {
      const entry = entryOf(grantId);
      if (!entry) return;
      entry.at = now();
      if (provider !== undefined) entry.providers.set(provider, entry.at);
    },
    upToDate(login) {
      const recent = [writing, noted].flatMap((notes) => notes.get(login.grantId) ?? []);
      return { ...login, use: recent.map(useOf).reduce(latest, login.use) };
    },
    close: writeDown,
  };
}

function useOf({ at, providers }: Noted): Use {
  const seconds = (time: number): number => Math.floor(time / 1000);
  return {
    at: seconds(at),
    providers: Object.fromEntries([...providers].map(([name, time]) => [name, seconds(time)])),
  };
}
