import { createHttpClient } from '../../base/http/index.ts';
import type { Log, SallyError } from '../../base/index.ts';
import { type BackendPlan, keyOf, type WorkloadKey } from '../../plan/index.ts';
import type { Backend, Credential } from '../call.ts';
import { type ConnectedBackend, createBackend } from './backend.ts';
import { createHttpTransport } from './http.ts';
import { createSseTransport } from './http-sse.ts';
import { createStdioTransport, type ProcessListener } from './stdio.ts';
import type { HeaderParamsOf, Transport } from './talk.ts';
import { untilListening } from './until-listening.ts';

/** Starts the process that a plan names. */
export type StartWorkload = (workload: WorkloadKey, listener: ProcessListener) => { close(): Promise<void> };

export interface PoolParts {
  readonly startWorkload: StartWorkload;
  readonly version: string;
  readonly log: Log;
}

/** A backend in use. Releasing it closes the connection once nobody else uses it. */
export interface Lease {
  readonly backend: Backend;
  release(): Promise<void>;
}

/**
 * The connections of the whole process. They outlive a gateway: after a reload the new gateway finds the backends that did
 * not change connected, listed and warm, and only those that nobody wants any more are closed.
 */
export interface BackendPool {
  lease(plan: BackendPlan, credential: Credential): Lease;
  close(): Promise<void>;
}

interface Entry {
  readonly backend: ConnectedBackend;
  users: number;
}

export function createBackendPool(parts: PoolParts): BackendPool {
  const entries = new Map<string, Entry>();

  return {
    lease(plan, credential) {
      // How patient a user of the connection is does not make it another connection.
      const { timeout, breaker, health, ...connection } = plan;
      const key = keyOf(connection);
      const entry = entries.get(key) ?? { backend: open(plan, credential, parts), users: 0 };
      entries.set(key, entry);
      entry.users += 1;
      let released = false;
      return {
        backend: {
          ...entry.backend,
          request: (call, method, params) => entry.backend.request(call, method, params, timeout),
        },
        async release() {
          if (released) return;
          released = true;
          entry.users -= 1;
          if (entry.users > 0) return;
          entries.delete(key);
          await entry.backend.close();
        },
      };
    },

    async close() {
      const open = [...entries.values()];
      entries.clear();
      await Promise.all(open.map(({ backend }) => backend.close()));
    },
  };
}

function open(plan: BackendPlan, credential: Credential, parts: PoolParts): ConnectedBackend {
  const { name, breaker, health } = plan;
  const { version, log } = parts;
  return createBackend({ name, breaker, health, version, log }, (headerParamsOf) =>
    connect(plan, credential, parts, headerParamsOf),
  );
}

function connect(
  plan: BackendPlan,
  credential: Credential,
  parts: PoolParts,
  headerParamsOf: HeaderParamsOf,
): Transport {
  const { name, target, revision: pin } = plan;
  const { log } = parts;
  if (target.kind === 'stdio') {
    const { workload, shared } = target;
    return createStdioTransport({ name, pin, shared, start: (listener) => parts.startWorkload(workload, listener) });
  }
  const http = createHttpClient({ range: target.addresses, ...(target.ca === undefined ? {} : { ca: target.ca }) });
  const transport =
    target.kind === 'sse'
      ? createSseTransport({ ...target, name }, { http, credential, log })
      : createHttpTransport({ ...target, name }, { http, credential, pin, log, headerParamsOf });
  return target.workload === undefined ? transport : withProcess(transport, target.url, name, target.workload, parts);
}

/** A server of ours that speaks HTTP: the process starts with the transport and ends with it, and a conversation ends with the process. */
function withProcess(
  transport: Transport,
  url: string,
  name: string,
  workload: WorkloadKey,
  parts: PoolParts,
): Transport {
  let failure: SallyError | undefined;
  let stopped = Promise.withResolvers<SallyError>();
  let mask = (text: string, length?: number): string => text.slice(0, length);
  const process = parts.startWorkload(workload, {
    started: (_send, masked) => {
      failure = undefined;
      mask = masked;
    },
    line: (line) => parts.log.debug('server says', { server: name, line: mask(line, 2_000) }),
    stopped: (error) => {
      failure = error;
      stopped.resolve(error);
      stopped = Promise.withResolvers();
    },
  });
  return {
    shared: transport.shared,
    async open(opening, signal) {
      const { promise: gone } = stopped;
      await untilListening(new URL(url), signal, () => failure);
      const talk = await transport.open(opening, signal);
      return { ...talk, ended: Promise.race([talk.ended, gone]) };
    },
    async close() {
      await transport.close();
      await process.close();
    },
  };
}
