import { randomBytes } from 'node:crypto';
import { SallyError } from '../../base/index.ts';
import { Session, type SessionFields } from './session.ts';

export interface SessionLimits {
  /** How long a session may be silent before it ends, in milliseconds. */
  readonly idle: number;
  readonly total: number;
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = { idle: 30 * 60_000, total: 20_000 };

export interface Sessions {
  open(fields: Omit<SessionFields, 'id'>): Session;
  /** Takes over a session that another process has opened. */
  adopt(fields: SessionFields): Session;
  has(id: string, principal: string): boolean;
  /** The session of that id, if it is this principal's. Somebody else's looks like one that does not exist, and goes on undisturbed. */
  find(id: string, principal: string): Session;
  end(session: Session): void;
  all(): Iterable<Session>;
  close(): void;
}

export interface SessionsParts {
  readonly limits?: SessionLimits;
  readonly now: () => number;
  /** Hears of each session that ended, however it ended. */
  readonly ended: (session: Session) => void;
}

/** What a client says about itself is kept for as long as its session: this much, in characters. */
const MAX_SELF = 16 * 1024;

function refuseTalkative({ capabilities, info }: Omit<SessionFields, 'id'>): void {
  if (JSON.stringify([capabilities, info]).length > MAX_SELF)
    throw new SallyError('call.invalid_params', 'the client says more about itself than can be kept');
}

/** The sessions of one endpoint. They outlive a reload: what is served may change under a client without its having to come back. */
export function createSessions({ limits = DEFAULT_SESSION_LIMITS, now, ended }: SessionsParts): Sessions {
  // A Map keeps the order of insertion, and a session that is used moves to the end: the oldest stand first.
  const sessions = new Map<string, Session>();
  const sweep = setInterval(dropIdle, Math.min(limits.idle / 2, 60_000)).unref();

  function end(session: Session): void {
    if (!sessions.delete(session.id)) return;
    session.end();
    ended(session);
  }

  function dropIdle(): void {
    const deadline = now() - limits.idle;
    for (const session of sessions.values()) {
      if (session.lastUsed > deadline) return;
      if (!session.busy) end(session);
    }
  }

  function makeRoom(): void {
    if (sessions.size < limits.total) return;
    for (const session of sessions.values()) {
      if (session.busy) continue;
      end(session);
      return;
    }
    throw new SallyError('call.too_many', `${limits.total} sessions are in use`);
  }

  function adopt(fields: SessionFields): Session {
    makeRoom();
    const session = new Session(fields);
    session.lastUsed = now();
    sessions.set(session.id, session);
    return session;
  }

  return {
    open(fields) {
      refuseTalkative(fields);
      // 144 bits, and visible ASCII as the transport asks.
      return adopt({ ...fields, id: randomBytes(18).toString('base64url') });
    },
    adopt,
    has: (id, principal) => sessions.get(id)?.principal === principal,
    find(id, principal) {
      const session = sessions.get(id);
      if (!session || session.principal !== principal)
        throw new SallyError('call.session_unknown', 'there is no such session');
      session.lastUsed = now();
      sessions.delete(id);
      sessions.set(id, session);
      return session;
    },
    end,
    all: () => sessions.values(),
    close() {
      clearInterval(sweep);
      for (const session of [...sessions.values()]) end(session);
    },
  };
}
