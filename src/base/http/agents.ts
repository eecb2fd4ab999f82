import type { Agent } from 'undici';
import type { AddressRange } from './addresses.ts';
import { guardedLookup } from './guard.ts';

/** What a connection depends on. */
export interface WayOut {
  readonly range: AddressRange;
  readonly ca: string | undefined;
  readonly socket: string | undefined;
  readonly connectTimeout: number;
}

/** The connections of one way out, until it is given back. */
export interface Lease {
  readonly agent: Promise<Agent>;
  release(): Promise<void>;
}

interface Shared {
  readonly agent: Promise<Agent>;
  users: number;
}

/**
 * Servers are often many behind one address. Who goes out by the same rules shares connections: a hundred servers then need as
 * many as there are calls at a time, and not a few each, which costs memory and, with cold sockets, time in each call. The other
 * end of a connection is one party, whatever paths it serves, and what tells users apart is in each request.
 */
const inUse = new Map<string, Shared>();

export function lease(way: WayOut): Lease {
  const key = JSON.stringify([way.range, way.ca, way.socket, way.connectTimeout]);
  const shared = inUse.get(key) ?? { agent: openAgent(way), users: 0 };
  shared.users += 1;
  inUse.set(key, shared);
  return {
    agent: shared.agent,
    async release() {
      shared.users -= 1;
      if (shared.users > 0) return;
      inUse.delete(key);
      await (await shared.agent).destroy();
    },
  };
}

/** The libraries are heavy to load, and many who may ask never do. */
async function openAgent({ range, ca, socket, connectTimeout }: WayOut): Promise<Agent> {
  const [{ Agent }, { getCACertificates }] = await Promise.all([import('undici'), import('node:tls')]);
  return new Agent({
    connect: {
      lookup: guardedLookup(range),
      ...(socket === undefined ? {} : { socketPath: socket }),
      timeout: connectTimeout,
      ...(ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] }),
    },
    // Who waits sets the deadline: a tool may take its time, and a quiet event stream is no error.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
