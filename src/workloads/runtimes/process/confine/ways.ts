import { rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '../../../../base/index.ts';
import type { ProcessLaunch } from '../../../launch.ts';
import { createEgressProxy } from '../../../permissions/egress-proxy.ts';
import { openDoor } from '../../engine/relay/door.ts';
import { createMux } from '../../engine/relay/mux.ts';

/** The two ways through the walls: out through our proxy, and in to the port of the server. */
export interface Ways {
  close(): Promise<void>;
}

/** Our end of the pipe to the relay. What comes from there comes from the server, for all we know. */
export function openWays({ name, confinement }: ProcessLaunch, pipe: Duplex, log: Log): Ways {
  const { network, listens } = confinement ?? {};
  const egress = network?.kind === 'isolated' ? createEgressProxy(network.rules, { server: name, log }) : undefined;
  let door: Server | undefined;
  let isClosed = false;
  const mux = createMux(pipe, pipe, {
    odd: true,
    onOpen: (_purpose, stream) => (egress ? egress.accept(stream) : void stream.destroy()),
    onNote(text) {
      if (text === 'ready' && listens) mux.note(String(listens.port));
      if (text === 'listening' && listens && !isClosed)
        door ??= openDoor(listens, (port) => mux.open(String(port)), log);
    },
    onEnd(error) {
      // The server and its relay end together, and whoever waits for the process hears of it.
      if (error && !isClosed) log.warn('the relay of a server broke the rules', { server: name, error });
      egress?.close();
    },
  });
  return {
    async close() {
      isClosed = true;
      door?.close();
      mux.close();
      egress?.close();
      if (listens) await rm(listens.socket, { force: true });
    },
  };
}
