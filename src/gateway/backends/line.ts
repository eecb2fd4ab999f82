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
  close(): Promise<void>;
}

export function openLine(plan: BackendPlan, credential: Credential, parts: LineParts): Line {
  const { name, target, revision: pin } = plan;
  const { log, startWorkload } = parts;
  if (target.kind === 'stdio') {
    const { workload, shared } = target;
    const start = (listener: ProcessListener) => startWorkload(workload, listener);
    return { transport: () => createStdioTransport({ name, pin, shared, start }), close: async () => {} };
  }
  const { addresses: range, ca, socket, url } = target;
  const http = createHttpClient({
    range,
    ...(ca === undefined ? {} : { ca }),
    ...(socket === undefined ? {} : { socket }),
  });
  const place: Place = socket === undefined ? new URL(url) : { socket };
  const process = target.workload === undefined ? undefined : followProcess(place, name, target.workload, parts);
  return {
    transport(headerParamsOf) {
      const transport =
        target.kind === 'sse'
          ? createSseTransport({ ...target, name }, { http, credential, log })
          : createHttpTransport({ ...target, name }, { http, credential, pin, log, headerParamsOf });
      return process ? process.through(transport) : transport;
    },
    async close() {
      await http.close();
      await process?.close();
    },
  };
}

/** A server of ours that speaks HTTP: the process lives as long as the line, and a conversation ends with the process. */
function followProcess(place: Place, name: string, workload: WorkloadKey, { startWorkload, log }: LineParts) {
  let failure: SallyError | undefined;
  let stopped = Promise.withResolvers<SallyError>();
  let mask = (text: string, length?: number): string => text.slice(0, length);
  const process = startWorkload(workload, {
    started: (_send, masked) => {
      failure = undefined;
      mask = masked;
    },
    line: (line) => log.debug('server says', { server: name, line: mask(line, 2_000) }),
    stopped: (error) => {
      failure = error;
      stopped.resolve(error);
      stopped = Promise.withResolvers();
    },
  });
  return {
    through: (transport: Transport): Transport => ({
      shared: transport.shared,
      async open(opening, signal) {
        const { promise: gone } = stopped;
        await untilListening(place, signal, () => failure);
        const talk = await transport.open(opening, signal);
        return { ...talk, ended: Promise.race([talk.ended, gone]) };
      },
      close: () => transport.close(),
    }),
    close: () => process.close(),
  };
}
