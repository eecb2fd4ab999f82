import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, type Log, SallyError, toSallyError } from '../../base/index.ts';
import type { Backend, BackendState, ServerHello, Tool } from '../call.ts';
import { shakeHands } from './handshake.ts';
import type { Heard, Link, Talk } from './link.ts';
import { listTools } from './tool-list.ts';

export interface ConnectedBackend extends Backend {
  close(): Promise<void>;
}

export interface BackendOptions {
  readonly name: string;
  /** How long one request may take, in milliseconds. */
  readonly timeout: number;
  readonly version: string;
  readonly log: Log;
}

interface Connection {
  readonly talk: Talk;
  readonly hello: ServerHello;
}

/** How long opening a conversation may take: a package runner may have to download the server first. */
const CONNECT_TIMEOUT = 180_000;
/** How long a caller waits for a conversation that is being opened. */
const PATIENCE = 10_000;
const FIRST_RETRY = 500;
const LAST_RETRY = 30_000;

/** Keeps one conversation with a server open, for all callers: opens it at once, and again whenever it breaks. */
export function createBackend(options: BackendOptions, connect: (heard: Heard) => Link): ConnectedBackend {
  const { name, log } = options;
  const closing = new AbortController();
  const settled = Promise.withResolvers<BackendState>();
  let state: BackendState = { kind: 'connecting' };
  let connection: PromiseWithResolvers<Connection>;
  let open: Connection | undefined;
  let known: readonly Tool[] | undefined;
  let retryNow = new AbortController();

  const link = connect((notification) => {
    if (notification.method === 'notifications/tools/list_changed' && open) void refresh(open);
  });
  startOver();
  const running = keepOpen();

  async function keepOpen(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        open = await openConversation();
        failures = 0;
        become({ kind: 'ready', tools: known?.length ?? 0 });
        log.info('backend connected', { backend: name, tools: known?.length ?? 0 });
        connection.resolve(open);
        const reason = await Promise.race([open.talk.ended, aborted(closing.signal)]);
        if (closing.signal.aborted) return;
        log.warn('backend connection ended, opening it again', { backend: name, error: reason });
        open = undefined;
        state = { kind: 'connecting' };
        startOver();
      } catch (thrown) {
        if (closing.signal.aborted) return;
        failures += 1;
        const error = toSallyError(thrown);
        log[failures === 1 ? 'error' : 'debug']('backend does not connect', { backend: name, error, hint: error.hint });
        giveUpForNow(error);
        retryNow = new AbortController();
        const pause = Math.min(FIRST_RETRY * 2 ** (failures - 1), LAST_RETRY);
        await sleep(pause, undefined, { signal: AbortSignal.any([closing.signal, retryNow.signal]) }).catch(() => {});
      }
    }
  }

  async function openConversation(): Promise<Connection> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(CONNECT_TIMEOUT)]);
    const talk = await link.dial(signal);
    try {
      const hello = await Promise.race([shakeHands(name, talk, options.version, signal), endOf(talk)]);
      known = await Promise.race([listTools(name, talk, hello, signal), endOf(talk)]);
      return { talk, hello };
    } catch (error) {
      await talk.close();
      if (codeOf(error) === 'ABORT_ERR' || isTimeout(error))
        throw new SallyError('backend.timeout', `${name} did not answer in time`);
      throw error;
    }
  }

  /** A server that says its tools changed is asked again; if that fails the last good list stays. */
  async function refresh({ talk, hello }: Connection): Promise<void> {
    try {
      known = await listTools(name, talk, hello, AbortSignal.any([closing.signal, AbortSignal.timeout(PATIENCE)]));
      become({ kind: 'ready', tools: known.length });
    } catch (error) {
      log.warn('backend tools changed but cannot be listed, the last list stays', { backend: name, error });
    }
  }

  /** Until an attempt succeeds, callers are told at once instead of waiting in line. */
  function giveUpForNow(error: SallyError): void {
    open = undefined;
    connection.reject(error);
    startOver();
    become({ kind: 'down', error });
  }

  function startOver(): void {
    connection = Promise.withResolvers();
    connection.promise.catch(() => {}); // nobody may be waiting
  }

  function become(next: BackendState): void {
    state = next;
    settled.resolve(next);
  }

  async function current(signal: AbortSignal): Promise<Connection> {
    if (open) return open;
    if (state.kind === 'down') {
      retryNow.abort();
      throw unavailable(state.error);
    }
    try {
      return await within(connection.promise, AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]));
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Callers learn which server is away; why it is away may name inner addresses and stays in the log. */
  function unavailable(cause: unknown): SallyError {
    return new SallyError('backend.unreachable', `the server ${name} is not available right now`, { cause });
  }

  return {
    name,
    state: () => state,
    settled: () => settled.promise,

    async request(method, params, identity, signal) {
      const deadline = AbortSignal.timeout(options.timeout);
      const either = AbortSignal.any([signal, deadline]);
      const send = async () => (await current(signal)).talk.request(method, params, identity, either);
      try {
        return await send().catch((error: unknown) => {
          // Asking again is safe for everything but a tool, which may already have done its work.
          if (codeOf(error) === 'backend.session_lost' && method !== 'tools/call') return send();
          throw error;
        });
      } catch (error) {
        if (signal.aborted) throw error;
        if (deadline.aborted)
          throw new SallyError('backend.timeout', `the server ${name} did not answer in time`, { cause: error });
        if (codeOf(error)?.startsWith('backend.')) throw error;
        throw unavailable(error);
      }
    },

    async tools(signal) {
      if (known) return known;
      await within(settled.promise, AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)])).catch(() => {});
      return known ?? [];
    },

    async hello(signal) {
      return (await current(signal)).hello;
    },

    async close() {
      closing.abort();
      await open?.talk.close();
      await link.close();
      await running;
      giveUpForNow(new SallyError('listener.draining', `the server ${name} is being stopped`));
    },
  };
}

/** Rejects when the conversation ends, to be raced against a wait that would not notice. */
async function endOf(talk: Talk): Promise<never> {
  throw await talk.ended;
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });
}

function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return Promise.race([promise, aborted(signal).then((reason) => Promise.reject(reason))]);
}
