import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSealer } from '../../base/index.ts';
import type { LoginCookies } from '../interactions/cookies.ts';
import { randomValue } from '../interactions/flow.ts';
import type { ServerSecrets } from '../secrets.ts';
import { isNotice, type Notice } from './notices.ts';

/** A browser whose user has shown at the first provider who he is, a moment ago. */
export interface Visit {
  /** `undefined` for somebody who never logged in here: he is known, and has nothing. */
  readonly userId: string | undefined;
  /** What the provider calls him. */
  readonly name: string | undefined;
  /** The value that only our own forms send. */
  readonly csrf: string;
  /** Seconds since 1970. */
  readonly until: number;
  /** What was done last, to be told once. */
  readonly notice?: Notice;
}

/** Visits are kept by browsers, in a cookie that we alone can read or make, and for this page only. */
export interface Visits {
  begin(response: ServerResponse, userId: string | undefined, name: string | undefined): void;
  find(request: IncomingMessage): Visit | undefined;
  /** The same visit with something to tell on the next page, or nothing any more. */
  tell(response: ServerResponse, visit: Visit, notice: Notice | undefined): void;
  end(response: ServerResponse): void;
}

const NAME = 'sally_account';
const LIFETIME = 15 * 60;
const LONGEST_NAME = 100;
const PURPOSE = 'a visit to the page of connections';

export function createVisits(cookies: LoginCookies, secrets: ServerSecrets, now: () => number): Visits {
  const [writer, ...others] = secrets.derive(PURPOSE).map((key) => createSealer(key, PURPOSE));
  const readers = [writer, ...others];
  const seconds = (): number => Math.floor(now() / 1000);

  function write(response: ServerResponse, visit: Visit): void {
    // Strict: no other site can use the visit, not even to load the page.
    cookies.write(response, NAME, writer?.seal(visit) ?? '', Math.max(1, visit.until - seconds()), 'Strict');
  }

  return {
    begin(response, userId, name) {
      const until = seconds() + LIFETIME;
      write(response, { userId, name: name?.slice(0, LONGEST_NAME), csrf: randomValue(), until });
    },
    find(request) {
      const text = cookies.read(request, NAME) ?? '';
      const visit = readers.map((sealer) => sealer?.open(text)).find((opened) => opened !== undefined);
      const { until, notice, ...rest } = (visit ?? {}) as Partial<Visit>;
      if (until === undefined || until <= seconds()) return undefined;
      return { ...(rest as Visit), until, ...(isNotice(notice) ? { notice } : {}) };
    },
    tell(response, { notice: _told, ...visit }, notice) {
      write(response, notice === undefined ? visit : { ...visit, notice });
    },
    end: (response) => cookies.write(response, NAME, '', 0, 'Strict'),
  };
}
