import { setTimeout as sleep } from 'node:timers/promises';
import { SallyError } from '../../base/index.ts';
import { type Params, parseMessage, type RpcMessage } from '../../mcp/index.ts';
import { type Answer, type Call, read, type ServerHello } from '../call.ts';
import { type Ask, discover, initialize } from './handshake.ts';
import { createMultiplex, type Multiplex } from './multiplex.ts';
import { OwnCall } from './own-call.ts';
import { answerRounds } from './rounds.ts';
import type { Heard, Opening, Talk, Transport } from './talk.ts';
import { forLegacyClient, forLegacyServer, forModernClient, forModernServer } from './translate.ts';

/** What the process behind a stdio server tells us. */
export interface ProcessListener {
  /** `mask` takes the server's secrets out of a text that somebody will read. */
  started(send: (line: string) => void, mask: (text: string, length?: number) => string): void;
  line(line: string): void;
  stopped(error: SallyError, final: boolean): void;
}

/** Starts a process and keeps it running. Ending it is its caller's duty. */
export type StartProcess = (listener: ProcessListener) => { close(): Promise<void> };

export type RevisionPin = 'auto' | 'legacy' | '2026-07-28';

/** Lines of noise we bear before the server has said one MCP message. Some print a banner; none prints twenty. */
const NOISE_LIMIT = 20;
/** How much of the noise is shown, in characters. */
const SAMPLE = 120;
/** A server of a stateful revision may not answer `server/discover` at all. */
const PROBE_SILENCE = 2_000;

export interface StdioOptions {
  readonly name: string;
  readonly pin: RevisionPin;
  /** One process for everybody, or one for each client. */
  readonly shared: boolean;
  readonly start: StartProcess;
}

/** Servers that speak MCP on their stdin and stdout. */
export function createStdioTransport(options: StdioOptions): Transport {
  const { name, pin, shared, start } = options;
  // Some servers die of a request they do not know. What a process taught us is remembered for the next one.
  let era: RevisionPin = pin;
  const lines = new Set<ProcessLine>();

  async function hello(multiplex: Multiplex, opening: Opening, signal: AbortSignal): Promise<ServerHello> {
    const ask: Ask = (call, method, params) => multiplex.request(call, method, params);
    if (era !== 'legacy') {
      era = era === 'auto' ? 'legacy' : era; // until the server says otherwise
      const found = await probe(ask, opening, signal, multiplex);
      if (found.era === 'modern') era = '2026-07-28';
      return found;
    }
    return await shakeHands(ask, opening, signal, multiplex);
  }

  async function shakeHands(
    ask: Ask,
    opening: Opening,
    signal: AbortSignal,
    multiplex: Multiplex,
  ): Promise<ServerHello> {
    const found = await initialize(name, ask, opening.client, opening.identity, signal);
    multiplex.notify('notifications/initialized', {});
    return found;
  }

  /** Asks for the stateless revision first. A server that stays silent may not know the method, or may still be starting: then both are asked. */
  async function probe(ask: Ask, opening: Opening, signal: AbortSignal, multiplex: Multiplex): Promise<ServerHello> {
    const discovered = discover(ask, opening.client, opening.identity, signal);
    discovered.catch(() => {});
    const early = await Promise.race([discovered, sleep(PROBE_SILENCE, 'silent' as const, { ref: false })]);
    if (typeof early === 'object') return early;
    if (pin === '2026-07-28') return (await discovered) ?? Promise.reject(notModern());
    if (early !== 'silent') return await shakeHands(ask, opening, signal, multiplex);
    const either = [
      discovered.then((found) => found ?? Promise.reject(notModern())),
      shakeHands(ask, opening, signal, multiplex),
    ];
    return await Promise.any(either).catch((error: AggregateError) => Promise.reject(error.errors.at(-1)));
  }

  function notModern(): SallyError {
    return new SallyError('backend.protocol', `${name} does not speak MCP 2026-07-28`);
  }

  /** The shared process is started again by its supervisor; one that was given up is asked for anew. */
  function lineFor(opening: Opening): ProcessLine {
    const [common] = lines;
    if (shared && common && !common.over()) return common;
    const line = openLine(name, start, opening.heard);
    lines.add(line);
    return line;
  }

  async function drop(line: ProcessLine): Promise<void> {
    lines.delete(line);
    await line.close();
  }

  return {
    shared,
    async open(opening, signal) {
      for (const line of lines) if (line.over()) await drop(line);
      const line = lineFor(opening);
      try {
        const multiplex = await line.ready(signal);
        const gone = multiplex.ended.then((error) => Promise.reject(error));
        const said = await Promise.race([hello(multiplex, opening, signal), gone]);
        // A process of one client is not started again without it: what it knew is gone.
        if (!shared) void multiplex.ended.then(() => drop(line));
        return toTalk(said, opening, multiplex, shared ? async () => {} : () => drop(line));
      } catch (error) {
        const noise = line.noise();
        if (!shared || noise) await drop(line);
        throw noise ?? error;
      }
    },
    async close() {
      await Promise.all([...lines].map(drop));
    },
  };
}

function toTalk(said: ServerHello, opening: Opening, multiplex: Multiplex, close: () => Promise<void>): Talk {
  const { notify, ended } = multiplex;
  if (said.era === 'legacy') {
    const request = async (call: Call, method: string, params: Params): Promise<Answer> => {
      const told = read(await multiplex.request(call, method, forLegacyServer(call, params)));
      return call.client.era === 'modern' ? forModernClient(told, method) : told;
    };
    return { hello: said, request, notify, ended, close };
  }
  const request = async (call: Call, method: string, params: Params): Promise<Answer> => {
    const send = async (next: Params) => read(await multiplex.request(call, method, forModernServer(call, next)));
    return call.client.era === 'modern' ? send(params) : forLegacyClient(await answerRounds(call, params, send));
  };
  const listening = createListening(opening, multiplex);
  if (opening.home) listening.to([]);
  return { hello: said, request, notify, ended, close, subscribe: async (uris) => listening.to(uris) };
}

/** The one request that stays open so that a stateless server tells us of changes. To hear of others, a new one replaces it. */
function createListening({ client, identity }: Opening, multiplex: Multiplex): { to(uris: readonly string[]): void } {
  let current: AbortController | undefined;
  return {
    to(uris) {
      const before = current;
      current = new AbortController();
      const wishes = uris.length > 0 ? { resourceSubscriptions: uris } : {};
      const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true, ...wishes };
      const call = new OwnCall('subscriptions/listen', { notifications }, identity, client, current.signal);
      // It ends when the server, the process or the next one ends it; in each case there is nothing to say.
      multiplex.request(call, call.method, forModernServer(call, call.params)).catch(() => {});
      before?.abort();
    },
  };
}

interface ProcessLine {
  /** The conversation with the running process, or with the next one that starts. */
  ready(signal: AbortSignal): Promise<Multiplex>;
  /** The error to show instead of an exit code, when the server only ever wrote things that are not MCP. */
  noise(): SallyError | undefined;
  /** The process ended and will not be started again. */
  over(): boolean;
  close(): Promise<void>;
}

function openLine(name: string, start: StartProcess, heard: Heard): ProcessLine {
  let multiplex: Multiplex | undefined;
  let waiting: { resolve(multiplex: Multiplex): void; reject(error: SallyError): void }[] = [];
  let noise: string[] = [];
  let understood = false;
  let over = false;
  let lastError: SallyError | undefined;
  let mask = (text: string, length?: number): string => text.slice(0, length);

  const process = start({
    started(send, masked) {
      [noise, understood] = [[], false];
      mask = masked;
      multiplex = createMultiplex(send, heard);
      for (const waiter of waiting.splice(0)) waiter.resolve(multiplex);
    },
    line(line) {
      const message = understand(line);
      if (message) multiplex?.receive(message);
    },
    stopped(error, final) {
      lastError = whyNoise() ?? error;
      over = final;
      multiplex?.end(lastError);
      multiplex = undefined;
      for (const waiter of waiting.splice(0)) waiter.reject(lastError);
    },
  });

  function understand(line: string): RpcMessage | undefined {
    try {
      const message = parseMessage(line);
      understood = true;
      return message;
    } catch {
      if (understood || noise.push(line) < NOISE_LIMIT) return undefined;
      multiplex?.end(notMcp(name, mask(noise[0] ?? '', SAMPLE)));
      return undefined;
    }
  }

  function whyNoise(): SallyError | undefined {
    return !understood && noise.length > 0 ? notMcp(name, mask(noise[0] ?? '', SAMPLE)) : undefined;
  }

  return {
    ready(signal) {
      if (multiplex) return Promise.resolve(multiplex);
      return new Promise((resolve, reject) => {
        const waiter = { resolve, reject };
        waiting.push(waiter);
        const late = (): void => {
          waiting = waiting.filter((other) => other !== waiter);
          reject(lastError ?? new SallyError('backend.timeout', `${name} did not start in time`));
        };
        if (signal.aborted) late();
        else signal.addEventListener('abort', late, { once: true });
      });
    },
    noise: whyNoise,
    over: () => over,
    close: () => process.close(),
  };
}

function notMcp(name: string, sample: string): SallyError {
  return new SallyError(
    'workload.not_mcp',
    `${name} wrote something on stdout that is not MCP: ${JSON.stringify(sample)}`,
    {
      hint: 'the server must keep stdout for MCP messages and log to stderr; check its transport and arguments',
    },
  );
}
