import type { Log } from '../../../base/index.ts';
import type { ContainerLaunch, Environment } from '../../launch.ts';
import { keepRunning, type Life, type ProcessListener, type SupervisedProcess } from '../keep-running.ts';
import { secretsOf } from '../process/environment.ts';
import { DEFAULT_LIMITS, type Limits } from '../process/limits.ts';
import { createMask } from '../process/mask.ts';
import { describeAddress, type EngineAddress, type EngineKind } from './address.ts';
import { connectEngine, type Engine, openEngine } from './connect.ts';
import { refusedByEngine } from './failures.ts';
import { type ContainerGuardian, createContainerGuardian } from './guardian.ts';
import { startContainer } from './life.ts';
import { clearAway } from './remove.ts';
import { startTolerant } from './tolerant.ts';

export interface SuperviseContainerParts {
  readonly listener: ProcessListener;
  readonly engines: Engines;
  readonly log: Log;
  readonly env: Environment;
  readonly limits?: Partial<Limits>;
  readonly onWords?: ((line: string) => void) | undefined;
}

/** The engines that one `sally` works with, each with a guardian of its own. */
export interface Engines extends AsyncDisposable {
  /** Looks for one, and remembers it: asking an engine about itself takes it a while. */
  find(env: Environment, wanted?: EngineKind): Promise<Engine>;
  at(address: EngineAddress): Promise<Engine>;
  guardianAt(address: EngineAddress): ContainerGuardian;
  close(): Promise<void>;
}

export function createEngines(): Engines {
  const engines = new Map<string, Promise<Engine>>();
  const guardians = new Map<string, ContainerGuardian>();
  async function close(): Promise<void> {
    await Promise.all([...guardians.values()].map((guardian) => guardian.close()));
  }
  return {
    async find(env, wanted) {
      const engine = await connectEngine(env, wanted);
      engines.set(describeAddress(engine.address), Promise.resolve(engine));
      return engine;
    },
    at(address) {
      const place = describeAddress(address);
      const known = engines.get(place);
      if (known) return known;
      const opened = openEngine(address);
      opened.catch(() => engines.delete(place)); // it is asked again
      engines.set(place, opened);
      return opened;
    },
    guardianAt(address) {
      const place = describeAddress(address);
      const guardian = guardians.get(place) ?? createContainerGuardian(address);
      guardians.set(place, guardian);
      return guardian;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Keeps a server running in containers: each life is a new container, and nothing of an earlier one is left. */
export function superviseContainer(launch: ContainerLaunch, parts: SuperviseContainerParts): SupervisedProcess {
  const { engines, listener, log, env, onWords } = parts;
  const limits: Limits = { ...DEFAULT_LIMITS, ...parts.limits };
  const mask = createMask(secretsOf({}, launch));
  const onLine = listener.line.bind(listener);
  const guardian = engines.guardianAt(launch.engine);
  const left = new Set<string>();
  let mayWrite = launch.root === 'writable';

  async function start(): Promise<Life> {
    const engine = await engines.at(launch.engine).catch((error: unknown) => {
      throw refusedByEngine(launch.name, error);
    });
    const lifeParts = { engine, guardian, log, env, left, limits, mask, onLine, onWords };
    for (const name of [...left]) await clearAway(name, lifeParts);
    if (mayWrite || launch.root === 'read-only')
      return await startContainer(launch, { ...lifeParts, readOnly: !mayWrite });
    return await startTolerant(launch, lifeParts, () => {
      mayWrite = true;
      log.warn('the server wants to write to the files of its image, and may from now on', { server: launch.name });
    });
  }

  return keepRunning(launch.name, start, { listener, log, mask, limits });
}
