import { createHttpClient } from '../../base/http/index.ts';
import type { Log, SallyError } from '../../base/index.ts';
import { type BackendPlan, keyOf, type WorkloadKey } from '../../plan/index.ts';
import type { Backend, Credential } from '../call.ts';
import { type ConnectedBackend, createBackend } from './backend.ts';
import type { Heard, Link } from './link.ts';
import { createStdioLink, type ProcessListener } from './stdio.ts';
import { createHttpLink } from './streamable-http.ts';
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
      const key = keyOf(plan);
      const entry = entries.get(key) ?? { backend: open(plan, credential, parts), users: 0 };
      entries.set(key, entry);
      entry.users += 1;
      let released = false;
      return {
        backend: entry.backend,
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
  const { version, log } = parts;
  return createBackend({ name: plan.name, timeout: plan.timeout, version, log }, (heard) =>
    connect(plan, credential, parts, heard),
  );
}

function connect({ name, target }: BackendPlan, credential: Credential, parts: PoolParts, heard: Heard): Link {
  switch (target.kind) {
    case 'stdio':
      return createStdioLink(name, (listener) => parts.startWorkload(target.workload, listener), heard);
    case 'streamable-http': {
      const http = createHttpClient({ range: target.addresses, ...(target.ca === undefined ? {} : { ca: target.ca }) });
      const link = createHttpLink({ name, url: target.url, headers: target.headers }, { http, credential, heard });
      return target.workload === undefined ? link : withProcess(link, target.url, name, target.workload, parts);
    }
  }
}

/** A server of ours that speaks HTTP: the process starts with the link and ends with it; what it prints is log. */
function withProcess(link: Link, url: string, name: string, workload: WorkloadKey, parts: PoolParts): Link {
  let failure: SallyError | undefined;
  const process = parts.startWorkload(workload, {
    started: () => {
      failure = undefined;
    },
    line: (line) => parts.log.debug('server says', { server: name, line }),
    stopped: (error) => {
      failure = error;
    },
  });
  return {
    async dial(signal) {
      await untilListening(new URL(url), signal, () => failure);
      return link.dial(signal);
    },
    async close() {
      await link.close();
      await process.close();
    },
  };
}
