import type { Sealer } from '../base/index.ts';
import {
  createParking,
  createSessions,
  type OldClients,
  type Parking,
  type Session,
  type Sessions,
} from './clients/index.ts';
import type { Hubs } from './hub/index.ts';

/** What an endpoint remembers of its clients. It outlives the gateway: after a reload the same clients are served on. */
export interface Memory {
  readonly sessions: Sessions;
  readonly parking: Parking;
  readonly oldClients: OldClients;
  /** Serves the clients with these backends from now on. Gives a function that lets go of them. */
  serveWith(hubs: Hubs): () => void;
  close(): void;
}

const NOTICES = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
  templates: 'notifications/resources/list_changed',
} as const;

export function createMemory(sealer: Sealer): Memory {
  let hubs: Hubs | undefined;
  const sessions = createSessions({ now: Date.now, ended: forget });
  const parking = createParking(sealer);

  function forget(session: Session): void {
    const hub = hubs?.known(session.owner);
    for (const uri of session.subscriptions) hub?.unsubscribe(uri);
    hub?.forget(session.key);
  }

  function* sessionsOf(owner: string | undefined): Generator<Session> {
    for (const session of sessions.all()) if (owner === undefined || session.owner === owner) yield session;
  }

  function subscribeAgain(session: Session): void {
    const hub = hubs?.known(session.owner);
    for (const uri of session.subscriptions) hub?.subscribe(uri).catch(() => session.subscriptions.delete(uri));
  }

  return {
    sessions,
    parking,
    oldClients: new Map(),
    serveWith(next) {
      const isFirst = hubs === undefined;
      hubs = next;
      for (const session of sessions.all()) {
        subscribeAgain(session);
        // Other servers may be behind the endpoint now.
        if (!isFirst) for (const method of new Set(Object.values(NOTICES))) session.tell(method, {});
      }
      return next.watch({
        changed(kinds, owner) {
          const methods = new Set([...kinds].map((kind) => NOTICES[kind]));
          for (const session of sessionsOf(owner)) for (const method of methods) session.tell(method, {});
        },
        updated(uri, params, owner) {
          for (const session of sessionsOf(owner)) {
            if (session.subscriptions.has(uri)) session.tell('notifications/resources/updated', { ...params, uri });
          }
        },
        heard(key, method, params) {
          for (const session of sessions.all()) if (session.key === key) session.tell(method, params);
        },
        opened(owner) {
          for (const session of sessionsOf(owner)) subscribeAgain(session);
        },
      });
    },
    close() {
      parking.close();
      sessions.close();
    },
  };
}
