import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { SallyError } from '../../../base/index.ts';
import type { Environment } from '../../launch.ts';

export type EngineKind = 'docker' | 'podman';

/** How an engine is reached. */
export type EngineAddress = UnixAddress | TcpAddress;

export interface UnixAddress {
  readonly socket: string;
}

export interface TcpAddress {
  readonly host: string;
  readonly port: number;
  /** The folder with `ca.pem`, `cert.pem` and `key.pem`; without it the connection is plain. */
  readonly certificates?: string;
}

/** A place where an engine may answer, and which one is expected there. */
export interface Candidate {
  readonly address: EngineAddress;
  readonly usually: EngineKind;
  /** Somebody named this place: when it does not answer, no other is tried. */
  readonly chosenBy?: string;
}

/**
 * Where engines listen on this machine, the first that answers counts. What the person chose for the engines' own commands
 * (`DOCKER_HOST`, `DOCKER_CONTEXT`, `docker context use`, `CONTAINER_HOST`) is tried alone.
 */
export async function candidates(env: Environment): Promise<readonly Candidate[]> {
  if (env.DOCKER_HOST) return [chosen(env.DOCKER_HOST, 'docker', 'DOCKER_HOST', env)];
  const context = await dockerContext(env);
  if (context) return [context];
  if (env.CONTAINER_HOST) return [chosen(env.CONTAINER_HOST, 'podman', 'CONTAINER_HOST', env)];
  return await usualPlaces(env);
}

export function describeAddress(address: EngineAddress): string {
  return 'socket' in address ? address.socket : `${address.host}:${address.port}`;
}

function chosen(text: string, usually: EngineKind, chosenBy: string, env: Environment, tls?: string): Candidate {
  const unix = /^unix:\/\/(\/.+)$/.exec(text)?.[1];
  if (unix !== undefined) return { address: { socket: unix }, usually, chosenBy };
  const tcp = /^(?:tcp|https?):\/\//.test(text) ? URL.parse(text.replace(/^[a-z]+:/, 'http:')) : null;
  if (!tcp) {
    throw new SallyError('workload.runtime_missing', `${chosenBy} names an engine in a form that is not supported`, {
      hint: 'use unix:///PATH or tcp://HOST:PORT; for an engine behind ssh, forward its socket with ssh -L and name that',
    });
  }
  const certificates =
    tls ?? (env.DOCKER_TLS_VERIFY ? (env.DOCKER_CERT_PATH ?? join(home(env), '.docker')) : undefined);
  const port = Number(tcp.port || (certificates === undefined ? 2375 : 2376));
  return {
    address: { host: tcp.hostname, port, ...(certificates === undefined ? {} : { certificates }) },
    usually,
    chosenBy,
  };
}

/** The context that `docker` itself would use. `default` means that there is none. */
async function dockerContext(env: Environment): Promise<Candidate | undefined> {
  const folder = env.DOCKER_CONFIG || join(home(env), '.docker');
  const name = env.DOCKER_CONTEXT || member(await readJson(join(folder, 'config.json')), 'currentContext');
  if (typeof name !== 'string' || name === '' || name === 'default') return undefined;
  // Docker files a context under the hash of its name.
  const id = createHash('sha256').update(name).digest('hex');
  const meta = await readJson(join(folder, 'contexts/meta', id, 'meta.json'));
  const host = member(member(member(meta, 'Endpoints'), 'docker'), 'Host');
  const chosenBy = `the docker context ${JSON.stringify(name)}`;
  if (typeof host !== 'string') {
    throw new SallyError('workload.runtime_missing', `${chosenBy} cannot be read`, {
      hint: 'choose another one with: docker context use default',
    });
  }
  const tls = join(folder, 'contexts/tls', id, 'docker');
  const hasTls = await readdir(tls).then(
    (files) => files.length > 0,
    () => false,
  );
  return chosen(host, 'docker', chosenBy, env, hasTls ? tls : undefined);
}

async function usualPlaces(env: Environment): Promise<readonly Candidate[]> {
  const at = home(env);
  const runtime = env.XDG_RUNTIME_DIR;
  const docker = [
    '/var/run/docker.sock',
    ...(runtime ? [join(runtime, 'docker.sock')] : []), // rootless
    join(at, '.docker/run/docker.sock'),
    join(at, '.docker/desktop/docker.sock'),
    join(at, '.colima/default/docker.sock'),
    join(at, '.colima/docker.sock'),
    join(at, '.rd/docker.sock'),
    join(at, '.orbstack/run/docker.sock'),
    join(at, '.lima/docker/sock/docker.sock'),
  ];
  const podman = [
    ...(runtime ? [join(runtime, 'podman/podman.sock')] : []), // rootless
    '/run/podman/podman.sock',
    join(at, '.local/share/containers/podman/machine/podman.sock'),
    ...(await podmanMachines(env)),
  ];
  const place =
    (usually: EngineKind) =>
    (socket: string): Candidate => ({ address: { socket }, usually });
  return [...docker.map(place('docker')), ...podman.map(place('podman'))].filter(
    ({ address }) => 'socket' in address && isAbsolute(address.socket),
  );
}

async function podmanMachines(env: Environment): Promise<readonly string[]> {
  const folder = join(env.TMPDIR || tmpdir(), 'podman');
  const files = await readdir(folder).catch(() => []);
  return files.filter((file) => file.endsWith('-api.sock')).map((file) => join(folder, file));
}

function home(env: Environment): string {
  return env.HOME || homedir();
}

/** Nothing when it is not there or is damaged: `docker` itself takes no notice either. */
async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
