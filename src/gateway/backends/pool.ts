import { type BackendPlan, isPersonal, keyOf } from '../../plan/index.ts';
import type { BackendSource, Credential, UpstreamTokens } from '../call.ts';
import { type ConnectedBackend, createBackend } from './backend.ts';
import { type Line, type LineParts, openLine } from './line.ts';
import { createPersonal } from './personal.ts';

export interface PoolParts extends LineParts {
  readonly version: string;
}

/** A backend in use. Releasing it closes the connections once nobody else uses it. */
export interface Lease extends Pick<Line, 'listening' | 'failure'> {
  readonly source: BackendSource;
  release(): Promise<void>;
}

/**
 * The connections of the whole process. They outlive a gateway: after a reload the new gateway finds the backends that did
 * not change connected, listed and warm, and only those that nobody wants any more are closed.
 */
export interface BackendPool {
  lease(plan: BackendPlan, createCredential: CreateCredential, logins?: Logins): Lease;
  close(): Promise<void>;
}

/** Who keeps the logins that a personal credential is made of: connections are not shared beyond it. */
export interface Logins {
  readonly issuer: string;
  readonly upstreamTokens?: UpstreamTokens;
}

/** A credential lives as long as the connections that show it. It finds its tokens at the newest gateway that uses them. */
export type CreateCredential = (tokens: () => UpstreamTokens | undefined) => Credential;

/** The connections to one server, by whomever they are used. */
interface Connections extends Pick<Line, 'listening' | 'failure'> {
  source(timeout: number): BackendSource;
  close(): Promise<void>;
}

interface Entry {
  readonly connections: Connections;
  /** Whoever uses it, the newest last. */
  readonly users: Set<{ readonly logins: Logins | undefined }>;
  newest: Logins | undefined;
}

export function createBackendPool(parts: PoolParts): BackendPool {
  const entries = new Map<string, Entry>();

  function create(plan: BackendPlan, createCredential: CreateCredential, logins: Logins | undefined): Entry {
    let entry: Entry | undefined;
    const credential = createCredential(() => (entry ? entry.newest : logins)?.upstreamTokens);
    entry = { connections: open(plan, credential, parts), users: new Set(), newest: logins };
    return entry;
  }

  return {
    lease(plan, createCredential, logins) {
      // How patient a user of the connection is does not make it another connection.
      const { timeout, breaker, health, ...connection } = plan;
      const key = keyOf(isPersonal(plan.credential) ? [connection, logins?.issuer] : [connection]);
      const entry = entries.get(key) ?? create(plan, createCredential, logins);
      entries.set(key, entry);
      const user = { logins };
      entry.users.add(user);
      entry.newest = logins;
      const { source, listening, failure } = entry.connections;
      return {
        source: source(timeout),
        listening,
        failure,
        async release() {
          if (!entry.users.delete(user)) return;
          // A gateway that did not come up goes before the one that it was to replace.
          const newest = [...entry.users].at(-1);
          if (newest) {
            entry.newest = newest.logins;
            return;
          }
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
  const connections = isPersonal(plan.credential)
    ? createPersonal(name, (identity) => createBackend({ ...options, identity }, line.transport))
    : createCommon(createBackend(options, line.transport));
  return {
    source: connections.source,
    listening: line.listening,
    failure: line.failure,
    async close() {
      await connections.close();
      await line.close();
      await credential.close?.();
    },
  };
}

/** One connection for everybody. */
function createCommon(backend: ConnectedBackend): Pick<Connections, 'source' | 'close'> {
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
