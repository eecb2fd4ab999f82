import type { Sealer } from '../base/index.ts';
import {
  createParking,
  createSessions,
  type Hub,
  type OldClients,
  type Parking,
  type Session,
  type Sessions,
} from './clients/index.ts';

/** What an endpoint remembers of its clients. It outlives the gateway: after a reload the same clients are served on. */
export interface Memory {
  readonly sessions: Sessions;
  readonly parking: Parking;
  readonly oldClients: OldClients;
  /** Serves the clients with these backends from now on. Gives a function that lets go of them. */
  serveWith(hub: Hub): () => void;
  close(): void;
}

const NOTICES = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
  templates: 'notifications/resources/list_changed',
} as const;

export function createMemory(sealer: Sealer): Memory {
  let hub: Hub | undefined;
  const sessions = createSessions({ now: Date.now, ended: forget });
  const parking = createParking(sealer);

  function forget(session: Session): void {
    for (const uri of session.subscriptions) hub?.unsubscribe(uri);
    hub?.forget(session.key);
  }

  return {
    sessions,
    parking,
    oldClients: new Map(),
    serveWith(next) {
      const isFirst = hub === undefined;
      hub = next;
      for (const session of sessions.all()) {
        for (const uri of session.subscriptions) next.subscribe(uri).catch(() => session.subscriptions.delete(uri));
        // Other servers may be behind the endpoint now.
        if (!isFirst) for (const method of new Set(Object.values(NOTICES))) session.tell(method, {});
      }
      return next.watch({
        changed(kinds) {
          const methods = new Set([...kinds].map((kind) => NOTICES[kind]));
          for (const session of sessions.all()) for (const method of methods) session.tell(method, {});
        },
        updated(uri, params) {
          for (const session of sessions.all()) {
            if (session.subscriptions.has(uri)) session.tell('notifications/resources/updated', { ...params, uri });
          }
        },
        heard(key, method, params) {
          for (const session of sessions.all()) if (session.key === key) session.tell(method, params);
        },
      });
    },
    close() {
      parking.close();
      sessions.close();
    },
  };
}
