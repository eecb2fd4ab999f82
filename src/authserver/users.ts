import { randomUUID } from 'node:crypto';
import type { TokenSource, UpstreamIdentity } from '../oauth/upstream/index.ts';
import type { Records } from './storage/records.ts';

/** Somebody who logged in. The id is what access tokens carry as `sub`; name and address are those of the latest login. */
export interface User {
  readonly id: string;
  readonly name?: string;
  readonly email?: string;
}

export interface Users {
  /** The user behind a login at the first provider, made if there is none yet. */
  resolve(provider: string, source: TokenSource, identity: UpstreamIdentity): Promise<User>;
  /** The id of the user behind such a login, if there was one before. */
  recognise(provider: string, source: TokenSource, identity: UpstreamIdentity): Promise<string | undefined>;
  find(id: string): Promise<User | undefined>;
}

/** Long enough that nobody becomes another user by being away, and not for ever. */
const REMEMBERED = 2 * 365 * 24 * 60 * 60;
const ATTEMPTS = 3;
/** The user of one access token, of whom nothing is kept. */
const SYNTHETIC = /^tk-[0-9a-f]{32}$/;

export function createUsers(records: Records): Users {
  const links = records.rows<{ readonly user: string }>('user-link');
  const users = records.rows<User>('user');

  /** Of two first logins at the same time one makes the link, and both get its user. */
  async function linkedId(link: string): Promise<string> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const known = await links.get(link);
      if (known) return known.user;
      const made = randomUUID();
      if (await links.add(link, { user: made }, { ttl: REMEMBERED })) return made;
    }
    throw new Error('the link of a user comes and goes');
  }

  return {
    async resolve(provider, source, { subject, synthetic, name, email }) {
      if (synthetic) return { id: subject };
      const link = linkOf(provider, source, subject);
      const id = await linkedId(link);
      const user = { id, ...(name === undefined ? {} : { name }), ...(email === undefined ? {} : { email }) };
      await links.put(link, { user: id }, { ttl: REMEMBERED });
      await users.put(id, user, { ttl: REMEMBERED });
      return user;
    },
    async recognise(provider, source, { subject, synthetic }) {
      return synthetic ? undefined : (await links.get(linkOf(provider, source, subject)))?.user;
    },
    find: async (id) => (SYNTHETIC.test(id) ? { id } : await users.get(id)),
  };
}

/** The issuer is part of it: a provider of the same name somewhere else has other users. */
function linkOf(provider: string, source: TokenSource, subject: string): string {
  return JSON.stringify([provider, source.issuer ?? source.tokenEndpoint, subject]);
}
