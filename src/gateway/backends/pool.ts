import { type BackendPlan, keyOf } from '../../plan/index.ts';
import type { BackendSource, Credential } from '../call.ts';
import { type ConnectedBackend, createBackend } from './backend.ts';
import { type LineParts, openLine } from './line.ts';
import { createPersonal } from './personal.ts';

export interface PoolParts extends LineParts {
  readonly version: string;
}

/** A backend in use. Releasing it closes the connections once nobody else uses it. */
export interface Lease {
  readonly source: BackendSource;
  release(): Promise<void>;
}

/**
 * The connections of the whole process. They outlive a gateway: after a reload the new gateway finds the backends that did
 * not change connected, listed and warm, and only those that nobody wants any more are closed.
 */
export interface BackendPool {
  /** `scope` names who keeps the logins that a personal credential is made of: connections are not shared beyond it. */
  lease(plan: BackendPlan, credential: Credential, scope?: string): Lease;
  close(): Promise<void>;
}

/** The connections to one server, by whomever they are used. */
interface Connections {
  source(timeout: number): BackendSource;
  close(): Promise<void>;
}

interface Entry {
  readonly connections: Connections;
  readonly credential: Renewable;
  users: number;
}

/** The credential of connections that outlive the gateway which made it: that of the newest gateway counts. */
interface Renewable extends Credential {
  become(newest: Credential): void;
}

export function createBackendPool(parts: PoolParts): BackendPool {
  const entries = new Map<string, Entry>();

  function create(plan: BackendPlan, first: Credential): Entry {
    const credential = renewable(first);
    return { connections: open(plan, credential, parts), credential, users: 0 };
  }

  return {
    lease(plan, credential, scope) {
      // How patient a user of the connection is does not make it another connection.
      const { timeout, breaker, health, ...connection } = plan;
      const key = keyOf(credential.personal ? [connection, scope] : [connection]);
      const entry = entries.get(key) ?? create(plan, credential);
      entries.set(key, entry);
      entry.credential.become(credential);
      entry.users += 1;
      let released = false;
      return {
        source: entry.connections.source(timeout),
        async release() {
          if (released) return;
          released = true;
          entry.users -= 1;
          if (entry.users > 0) return;
          entries.delete(key);
          await entry.connections.close();
        },
      };
    },

    async close() {
      const open = [...entries.values()];
      entries.clear();
      await Promise.all(open.map(({ connections }) => connections.close()));
    },
  };
}

function open(plan: BackendPlan, credential: Credential, parts: PoolParts): Connections {
  const { name, breaker, health } = plan;
  const { version, log } = parts;
  const options = { name, breaker, health, version, log };
  const line = openLine(plan, credential, parts);
  const connections = credential.personal
    ? createPersonal(name, (identity) => createBackend({ ...options, identity }, line.transport))
    : createCommon(createBackend(options, line.transport));
  return {
    source: connections.source,
    async close() {
      await connections.close();
      await line.close();
    },
  };
}

function renewable(first: Credential): Renewable {
  let current = first;
  return {
    personal: first.personal,
    headers: (identity) => current.headers(identity),
    renew: async (identity, refused) => await current.renew?.(identity, refused),
    become(newest) {
      current = newest;
    },
  };
}

/** One connection for everybody. */
function createCommon(backend: ConnectedBackend): Connections {
  return {
    source: (timeout) => ({
      name: backend.name,
      personal: false,
      lease: () => ({
        backend: { ...backend, request: (call, method, params) => backend.request(call, method, params, timeout) },
        seen() {},
        release() {},
      }),
    }),
    close: () => backend.close(),
  };
}
