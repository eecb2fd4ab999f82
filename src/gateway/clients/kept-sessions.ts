import type { LoggingLevel } from '../../mcp/index.ts';
import type { Session, SessionFields } from './session.ts';
import type { Sessions } from './sessions.ts';

/** A session as it is kept outside of this process. It names its principal and holds nothing of his credentials. */
export interface SessionRow extends Omit<SessionFields, 'id' | 'owner'> {
  readonly logLevel?: LoggingLevel;
  readonly subscriptions: readonly string[];
}

/** Where sessions are kept for other processes, for as long as an idle session lives. */
export interface SessionRows {
  put(id: string, row: SessionRow): Promise<void>;
  get(id: string): Promise<SessionRow | undefined>;
  remove(id: string): Promise<void>;
}

/** The sessions of an endpoint, which another process may have opened. At once where nothing has to be looked up. */
export interface KeptSessions {
  open(fields: Omit<SessionFields, 'id'>): Session | Promise<Session>;
  /** The session of that id, if it is this principal's. `adopted` hears of one that comes from another process. */
  find(id: string, principal: string, owner: string, adopted: (row: SessionRow) => void): Session | Promise<Session>;
  /** What a client chose has changed. */
  changed(session: Session): Promise<void>;
  end(session: Session): Promise<void>;
}

/** A session in use is written again this often, in milliseconds. Well within the time that a silent one lives. */
const KEEP_AGAIN = 5 * 60_000;
/** More are not taken over by another process. */
const MAX_SUBSCRIPTIONS = 100;

export function keepSessions(sessions: Sessions, rows: SessionRows | undefined, now: () => number): KeptSessions {
  if (!rows) {
    return {
      open: sessions.open,
      find: (id, principal) => sessions.find(id, principal),
      changed: async () => {},
      end: async (session) => sessions.end(session),
    };
  }
  const keptAt = new WeakMap<Session, number>();

  async function keep(session: Session): Promise<Session> {
    const { id, principal, revision, capabilities, info, logLevel } = session;
    const subscriptions = [...session.subscriptions].slice(0, MAX_SUBSCRIPTIONS);
    await rows?.put(id, { principal, revision, capabilities, info, subscriptions, ...(logLevel ? { logLevel } : {}) });
    keptAt.set(session, now());
    return session;
  }

  /** Also how a process hears that a session was ended at another one. */
  async function keepAgain(session: Session): Promise<Session> {
    if (await rows?.get(session.id)) return await keep(session);
    sessions.end(session);
    return sessions.find(session.id, session.principal); // says that there is none
  }

  async function adopt(id: string, principal: string, owner: string, adopted: (row: SessionRow) => void) {
    const row = await rows?.get(id);
    if (row?.principal !== principal) return sessions.find(id, principal);
    if (sessions.has(id, principal)) return sessions.find(id, principal); // two requests came at once
    const { logLevel, subscriptions: _later, ...fields } = row;
    const session = sessions.adopt({ ...fields, id, owner });
    session.logLevel = logLevel;
    keptAt.set(session, now());
    adopted(row);
    return session;
  }

  return {
    async open(fields) {
      const session = sessions.open(fields);
      try {
        return await keep(session);
      } catch (error) {
        sessions.end(session);
        throw error;
      }
    },
    find(id, principal, owner, adopted) {
      if (!sessions.has(id, principal)) return adopt(id, principal, owner, adopted);
      const session = sessions.find(id, principal);
      return now() - (keptAt.get(session) ?? 0) < KEEP_AGAIN ? session : keepAgain(session);
    },
    changed: async (session) => void (await keep(session)),
    async end(session) {
      sessions.end(session);
      await rows.remove(session.id);
    },
  };
}
