import { createHttpClient } from '../../base/http/index.ts';
import type { Log, SallyError } from '../../base/index.ts';
import type { BackendPlan, WorkloadKey } from '../../plan/index.ts';
import type { Credential } from '../call.ts';
import { createHttpTransport } from './http.ts';
import { createSseTransport } from './http-sse.ts';
import { createStdioTransport, type ProcessListener } from './stdio.ts';
import type { HeaderParamsOf, Transport } from './talk.ts';
import { type Place, untilListening } from './until-listening.ts';

/** Starts the process that a plan names. */
export type StartWorkload = (workload: WorkloadKey, listener: ProcessListener) => { close(): Promise<void> };

export interface LineParts {
  readonly startWorkload: StartWorkload;
  readonly log: Log;
}

/** What leads to one server: sockets, and its process when it is one of ours. Connections of several users share it. */
export interface Line {
  transport(headerParamsOf: HeaderParamsOf): Transport;
  /** Waits until a process of ours accepts connections, or has failed. Never rejects. */
  listening(signal: AbortSignal): Promise<void>;
  /** Why a process of ours does not run right now. */
  failure(): Failure | undefined;
  close(): Promise<void>;
}

export interface Failure {
  readonly error: SallyError;
  /** Milliseconds since 1970. */
  readonly since: number;
}

export function openLine(plan: BackendPlan, credential: Credential, parts: LineParts): Line {
  const { name, target, revision: pin } = plan;
  const { log, startWorkload } = parts;
  if (target.kind === 'stdio') {
    const { workload, shared } = target;
    const start = (listener: ProcessListener) => startWorkload(workload, listener);
    // The process belongs to the conversation, which tells how it is.
    return {
      transport: () => createStdioTransport({ name, pin, shared, start }),
      listening: async () => {},
      failure: () => undefined,
      close: async () => {},
    };
  }
  const { addresses: range, ca, socket, url } = target;
  const http = createHttpClient({
    range,
    ...(ca === undefined ? {} : { ca }),
    ...(socket === undefined ? {} : { socket }),
  });
  const place: Place = socket === undefined ? new URL(url) : { socket };
  const process = target.workload === undefined ? undefined : followProcess(place, name, target.workload, parts);
  if (process) http.prepare(); // while the process comes up
  return {
    transport(headerParamsOf) {
      const transport =
        target.kind === 'sse'
          ? createSseTransport({ ...target, name }, { http, credential, log })
          : createHttpTransport({ ...target, name }, { http, credential, pin, log, headerParamsOf });
      return process ? process.through(transport) : transport;
    },
    listening: async (signal) => await process?.listening(signal),
    failure: () => process?.failure(),
    async close() {
      await http.close();
      await process?.close();
    },
  };
}

/** A server of ours that speaks HTTP: the process lives as long as the line, and a conversation ends with the process. */
function followProcess(place: Place, name: string, workload: WorkloadKey, { startWorkload, log }: LineParts) {
  let failure: Failure | undefined;
  let stopped = Promise.withResolvers<SallyError>();
  let mask = (text: string, length?: number): string => text.slice(0, length);
  const process = startWorkload(workload, {
    started: (_send, masked) => {
      failure = undefined;
      mask = masked;
    },
    line: (line) => log.debug('server says', { server: name, line: mask(line, 2_000) }),
    stopped: (error) => {
      failure = { error, since: Date.now() };
      stopped.resolve(error);
      stopped = Promise.withResolvers();
    },
  });
  const reach = (signal: AbortSignal): Promise<void> => untilListening(place, signal, () => failure?.error);
  return {
    listening: (signal: AbortSignal): Promise<void> => reach(signal).catch(() => {}), // `failure` tells why
    failure: () => failure,
    through: (transport: Transport): Transport => ({
      shared: transport.shared,
      async open(opening, signal) {
        const { promise: gone } = stopped;
        await reach(signal);
        const talk = await transport.open(opening, signal);
        return { ...talk, ended: Promise.race([talk.ended, gone]) };
      },
      close: () => transport.close(),
    }),
    close: () => process.close(),
  };
}
