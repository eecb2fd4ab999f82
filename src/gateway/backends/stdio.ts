import { SallyError } from '../../base/index.ts';
import {
  isNotification,
  isRequest,
  type Params,
  parseMessage,
  type RpcMessage,
  type RpcResponse,
} from '../../mcp/index.ts';
import type { Answer } from '../call.ts';
import type { Heard, Link, Talk } from './link.ts';

/** What the process behind a stdio server tells us. */
export interface ProcessListener {
  started(send: (line: string) => void): void;
  line(line: string): void;
  stopped(error: SallyError, final: boolean): void;
}

/** Starts the process of a workload and keeps it running. Ending it is its caller's duty. */
export type StartProcess = (listener: ProcessListener) => { close(): Promise<void> };

/** Lines of noise we bear before the server has said one MCP message. Some print a banner; none prints twenty. */
const NOISE_LIMIT = 20;

/** A server that speaks MCP on its stdin and stdout. The process runs as long as the link; each restart is a new conversation. */
export function createStdioLink(name: string, start: StartProcess, heard: Heard): Link {
  let talk: StdioTalk | undefined;
  let final: SallyError | undefined;
  let lastError: SallyError | undefined;
  let waiting: { resolve(talk: Talk): void; reject(error: SallyError): void }[] = [];

  const process = start({
    started(send) {
      talk = createTalk(name, send, heard);
      for (const waiter of waiting.splice(0)) waiter.resolve(talk);
    },
    line: (line) => talk?.receive(line),
    stopped(error, isFinal) {
      lastError = talk?.noise() ?? error;
      talk?.end(lastError);
      talk = undefined;
      if (isFinal) final = lastError;
      for (const waiter of waiting.splice(0)) waiter.reject(lastError);
    },
  });

  return {
    dial(signal) {
      if (final) return Promise.reject(final);
      if (talk) return Promise.resolve(talk);
      return new Promise((resolve, reject) => {
        const waiter = { resolve, reject };
        waiting.push(waiter);
        signal.addEventListener(
          'abort',
          () => {
            waiting = waiting.filter((other) => other !== waiter);
            reject(lastError ?? new SallyError('backend.timeout', `${name} did not start in time`));
          },
          { once: true },
        );
      });
    },
    close: () => process.close(),
  };
}

interface StdioTalk extends Talk {
  receive(line: string): void;
  end(error: SallyError): void;
  /** The error to show instead of an exit code, when the server only ever wrote things that are not MCP. */
  noise(): SallyError | undefined;
}

function createTalk(name: string, send: (line: string) => void, heard: Heard): StdioTalk {
  const pending = new Map<number, { resolve(answer: Answer): void; reject(error: SallyError): void }>();
  const ended = Promise.withResolvers<SallyError>();
  let over: SallyError | undefined;
  let nextId = 1;
  let understood = false;
  const noise: string[] = [];

  function end(error: SallyError): void {
    if (over) return;
    over = error;
    ended.resolve(error);
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  }

  function accept(message: RpcMessage): void {
    if (isNotification(message)) heard(message);
    else if (isRequest(message)) send(JSON.stringify(answerTo(message.id, message.method)));
    else if (typeof message.id === 'number') settle(message.id, message);
  }

  function settle(id: number, message: RpcResponse): void {
    const waiter = pending.get(id);
    // An answer nobody waits for: its caller gave up, or the server counts differently than we do.
    if (!waiter) return;
    pending.delete(id);
    waiter.resolve(message.error ? { error: message.error } : { result: message.result ?? {} });
  }

  return {
    ended: ended.promise,
    end,
    noise: () => (!understood && noise.length > 0 ? notMcp(name, noise) : undefined),

    receive(line) {
      if (line.trim() === '') return;
      let message: RpcMessage;
      try {
        message = parseMessage(line);
      } catch {
        if (understood) return;
        noise.push(line);
        if (noise.length >= NOISE_LIMIT) end(notMcp(name, noise));
        return;
      }
      understood = true;
      accept(message);
    },

    request(method, params, _identity, signal) {
      if (over) return Promise.reject(over);
      const id = nextId++;
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          pending.delete(id);
          // The handshake is the one request that may not be cancelled (MCP lifecycle).
          if (method !== 'initialize')
            send(line('notifications/cancelled', { requestId: id, reason: 'the caller gave up' }));
          reject(noise.length > 0 && !understood ? notMcp(name, noise) : signal.reason);
        };
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
        const done = <T>(then: (value: T) => void) => {
          return (value: T): void => {
            signal.removeEventListener('abort', onAbort);
            then(value);
          };
        };
        pending.set(id, { resolve: done(resolve), reject: done(reject) });
        send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      });
    },

    async notify(method, params) {
      if (!over) send(line(method, params));
    },

    // The conversation ends with the process, which belongs to the link.
    async close() {},
  };
}

/** A server may ask whether we live. What it asks of a client's user cannot be passed on while the process is shared. */
function answerTo(id: string | number, method: string): object {
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
  return { jsonrpc: '2.0', id, error: { code: -32601, message: `${method} is not available through this gateway` } };
}

function line(method: string, params: Params): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

function notMcp(name: string, noise: readonly string[]): SallyError {
  const sample = (noise[0] ?? '').slice(0, 120);
  return new SallyError(
    'workload.not_mcp',
    `${name} wrote something on stdout that is not MCP: ${JSON.stringify(sample)}`,
    {
      hint: 'the server must keep stdout for MCP messages and log to stderr; check its transport and arguments',
    },
  );
}
