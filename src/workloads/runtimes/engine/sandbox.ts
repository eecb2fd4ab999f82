import { rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { PassThrough } from 'node:stream';
import type { ContainerLaunch, Environment } from '../../launch.ts';
import { createEgressProxy } from '../../permissions/egress-proxy.ts';
import { attach } from './attach.ts';
import { relayFailed } from './failures.ts';
import { openDoor } from './relay/door.ts';
import { createMux, type Mux } from './relay/mux.ts';
import { type ClearParts, clearAway } from './remove.ts';
import { proxyPortFor, relaySettings } from './settings.ts';
import { soon } from './soon.ts';

const READY_WITHIN = 30_000;
const KEPT = 2_000;

export interface SandboxParts extends ClearParts {
  readonly env: Environment;
}

/** The network that a server lives in, with our relay at its edge: the way out through our proxy, and the way in to its port. */
export interface Sandbox {
  /** The container whose network the server joins. */
  readonly id: string;
  /** The relay answers: from now on the server may start. */
  readonly ready: Promise<void>;
  /** The relay is gone, and the server has lost its ways. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export async function openSandbox(launch: ContainerLaunch, parts: SandboxParts): Promise<Sandbox> {
  const { engine, guardian, log } = parts;
  const proxyPort = proxyPortFor(launch);
  const settings = relaySettings(launch, proxyPort === undefined ? {} : { proxyPort }, parts);
  const name = settings.name ?? '';
  const egress =
    launch.network.kind === 'isolated'
      ? createEgressProxy(launch.network.rules, { server: launch.name, log })
      : undefined;
  const ended = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {}); // it may fail before anybody waits
  let said = '';
  let door: Server | undefined;
  let closed: Promise<void> | undefined;

  guardian.watch(name);
  try {
    const container = await soon(engine.api.createContainer(settings));
    const fromRelay = new PassThrough();
    const pipes = await attach(container, engine.address, {
      stdout: (chunk) => fromRelay.write(chunk),
      stderr: (chunk) => {
        said = (said + chunk.toString('utf8')).slice(-KEPT);
      },
    });
    void pipes.ended.then(() => fromRelay.end());
    const mux = createMux(fromRelay, pipes.stdin, {
      odd: true,
      onOpen: (_purpose, stream) => (egress ? egress.accept(stream) : void stream.destroy()),
      onNote(text) {
        if (text === 'ready') ready.resolve();
        else if (text === 'listening' && !door && launch.listens) {
          door = openDoor(launch.listens, (port) => mux.open(String(port)), log);
        }
      },
      onEnd(error) {
        if (error) log.warn('the relay of a server broke the rules', { server: launch.name, error });
        ready.reject(relayFailed(launch.name, said === '' ? '' : `: ${said.trim()}`));
        ended.resolve();
      },
    });
    await soon(container.start());
    const answers = untilReady(mux);
    answers.catch(() => {}); // nor here: the server may be refused first
    return {
      id: container.id,
      ready: answers,
      ended: ended.promise,
      close() {
        closed ??= (async () => {
          ready.reject(relayFailed(launch.name, ''));
          door?.close();
          mux.close();
          egress?.close();
          pipes.stdin.destroy();
          await clearAway(name, parts);
          if (launch.listens) await rm(launch.listens.socket, { force: true });
        })();
        return closed;
      },
    };
  } catch (error) {
    egress?.close();
    await clearAway(name, parts);
    throw error;
  }

  async function untilReady(mux: Mux): Promise<void> {
    const late = setTimeout(() => ready.reject(relayFailed(launch.name, ': it does not answer')), READY_WITHIN);
    await ready.promise.finally(() => clearTimeout(late));
    // From now on the relay looks for the port, and tells when somebody listens there.
    if (launch.listens) mux.note(String(launch.listens.port));
  }
}
