import { createRecent } from '../oauth/index.ts';

/** A page on which the user of a login connects his account at one more provider. */
export type Connect = (grantId: string, provider: string) => Promise<string | undefined>;

/** How long calls are given the same link, in milliseconds. */
const SAME_LINK = 10_000;
const REMEMBERED = 2_000;

/**
 * Every call that lacks an account wants a link to where it is connected, and each link is a row. A client that calls again and
 * again gets the same one: it must not push out the logins of others.
 */
export function createConnectLinks(start: Connect, now: () => number): Connect {
  const given = createRecent<{ readonly link: Promise<string | undefined>; readonly until: number }>(REMEMBERED);
  return (grantId, provider) => {
    const key = JSON.stringify([grantId, provider]);
    const known = given.get(key);
    if (known && known.until > now()) return known.link;
    const link = start(grantId, provider);
    given.set(key, { link, until: now() + SAME_LINK });
    // What failed is tried again by the next one.
    link.catch(() => given.set(key, { link, until: 0 }));
    return link;
  };
}
