import { stat } from 'node:fs/promises';
import type Docker from 'dockerode';
import { codeOf, SallyError } from '../../../base/index.ts';
import type { Environment } from '../../launch.ts';
import { type Candidate, candidates, describeAddress, type EngineAddress, type EngineKind } from './address.ts';
import { requestOptions } from './request-options.ts';

/** An engine that answered. */
export interface Engine {
  readonly kind: EngineKind;
  readonly address: EngineAddress;
  readonly version: string;
  readonly api: Docker;
  /** What the engine can enforce; a rootless one often cannot limit memory. */
  readonly limits: { readonly memory: boolean; readonly pids: boolean };
  /** In which user's name containers run: files in mounts belong to somebody else then. */
  readonly rootless: boolean;
}

/** A busy machine takes its time. One on which nothing listens says so at once. */
const ANSWER_WITHIN = 15_000;

/** Finds an engine on this machine, of one kind or of any. Throws with what was tried when none answers. */
export async function connectEngine(env: Environment, wanted?: EngineKind): Promise<Engine> {
  const tried: string[] = [];
  for (const candidate of await candidates(env)) {
    if (!(await isThere(candidate))) continue;
    try {
      const engine = await openEngine(candidate.address);
      if (wanted === undefined || engine.kind === wanted) return engine;
      tried.push(`${describeAddress(candidate.address)} is ${engine.kind}`);
    } catch (error) {
      tried.push(`${describeAddress(candidate.address)} ${whyNot(error)}`);
    }
  }
  const name = wanted === 'docker' ? 'Docker' : wanted === 'podman' ? 'Podman' : 'container engine';
  throw new SallyError(
    'workload.runtime_missing',
    `no ${name} answers${tried.length > 0 ? `: ${tried.join('; ')}` : ''}`,
    {
      hint: tried.some((line) => line.includes('permission'))
        ? 'you may not open its socket; join its group (usually: docker), or use a rootless engine'
        : 'start Docker or Podman, name its socket with DOCKER_HOST, or use --runtime process for npx://, uvx:// and go://',
    },
  );
}

/** Opens an engine at a known place and asks who it is. */
export async function openEngine(address: EngineAddress): Promise<Engine> {
  const api = await createApi(address);
  const signal = AbortSignal.timeout(ANSWER_WITHIN);
  // Not `/version` as well: Podman takes a second for each of the two.
  const info = (await new Promise<unknown>((resolve, reject) => {
    const statusCodes = { 200: true, 500: 'server error' };
    const request = { path: '/info', method: 'GET', abortSignal: signal, statusCodes };
    api.modem.dial(request, (error: unknown, data: unknown) => (error ? reject(error) : resolve(data)));
  })) as Record<string, unknown>;
  const security = Array.isArray(info.SecurityOptions) ? info.SecurityOptions.map(String) : [];
  return {
    kind: 'BuildahVersion' in info ? 'podman' : 'docker', // Podman's builder, which Docker does not have
    address,
    version: String(info.ServerVersion ?? ''),
    api,
    limits: { memory: info.MemoryLimit === true, pids: info.PidsLimit !== false },
    rootless: security.some((option) => option.includes('rootless')),
  };
}

/** Heavy to load, so only when there is something to ask. Every place is said: its own defaults come from the environment. */
async function createApi(address: EngineAddress): Promise<Docker> {
  const { default: Dockerode } = await import('dockerode');
  const { socketPath, ...place } = requestOptions(address);
  const protocol = place.ca === undefined ? 'http' : 'https';
  return new Dockerode({ host: undefined, port: undefined, ...place, socketPath, protocol } as Docker.DockerOptions);
}

async function isThere({ address, chosenBy }: Candidate): Promise<boolean> {
  if (chosenBy !== undefined || !('socket' in address)) return true;
  return await stat(address.socket).then(
    (file) => file.isSocket(),
    (error: unknown) => codeOf(error) === 'EACCES', // there, and not for us: worth a word
  );
}

function whyNot(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return 'is not there';
    case 'ECONNREFUSED':
      return 'does not answer: nothing listens there';
    case 'EACCES':
    case 'EPERM':
      return 'refuses us: no permission';
    default:
      return 'does not answer';
  }
}
