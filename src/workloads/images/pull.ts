import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, SallyError } from '../../base/index.ts';
import type { Environment } from '../launch.ts';
import type { Engine } from '../runtimes/engine/connect.ts';
import { engineSays, statusOf } from '../runtimes/engine/failures.ts';
import { credentialFor } from './credentials.ts';

/** Hears how far long work has come, a line at a time. */
export type Progress = (line: string) => void;

export interface ImageParts {
  readonly engine: Engine;
  readonly env: Environment;
  readonly progress: Progress;
}

const PULL_WITHIN = 30 * 60_000;
const SAY_EVERY = 2_000;

/**
 * The id of an image, fetched when it is not there. A tag that moves (`latest`, or none) is asked for each time; when that fails
 * and an older one is here, it is used and said so.
 */
export async function ensureImage(reference: string, parts: ImageParts): Promise<string> {
  const local = await findImage(reference, parts.engine);
  if (local !== undefined && !moves(reference)) return local;
  try {
    await pull(reference, parts);
  } catch (error) {
    if (local === undefined) throw pullFailed(reference, error);
    parts.progress(`${reference} cannot be fetched (${engineSays(error)}), the one that is here is used`);
    return local;
  }
  const fetched = await findImage(reference, parts.engine);
  if (fetched === undefined) throw pullFailed(reference, new Error('the engine does not have it afterwards'));
  return fetched;
}

/** The id of an image that the engine has. */
export async function findImage(reference: string, engine: Engine): Promise<string | undefined> {
  return (await inspectImage(reference, engine))?.id;
}

/** An image that the engine has, and under which digests registries know it. */
export async function inspectImage(
  reference: string,
  { api }: Engine,
): Promise<{ readonly id: string; readonly repoDigests: readonly string[] } | undefined> {
  try {
    const { Id, RepoDigests } = await api.getImage(reference).inspect();
    return { id: Id, repoDigests: RepoDigests ?? [] };
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/** Whether a reference means the newest of something. */
export function moves(reference: string): boolean {
  if (reference.includes('@sha256:')) return false;
  const tag = /:([^/:]+)$/.exec(reference)?.[1];
  return tag === undefined || tag === 'latest';
}

async function pull(reference: string, { engine, env, progress }: ImageParts): Promise<void> {
  // Without a tag an engine takes every tag there is.
  const full = /[:@][^/]+$/.test(reference) ? reference : `${reference}:latest`;
  progress(`fetching ${full}`);
  const authconfig = await credentialFor(full, env);
  const stream = (await engine.api.pull(full, authconfig ? { authconfig } : {})) as NodeJS.ReadableStream & {
    destroy(error?: Error): void;
  };
  const layers = new Map<string, { current: number; total: number }>();
  let said = performance.now();
  const late = new AbortController();
  const tooLate = sleep(PULL_WITHIN, undefined, { signal: late.signal, ref: false }).then(
    () => stream.destroy(new Error('it took too long')),
    () => {},
  );
  await new Promise<void>((resolve, reject) => {
    engine.api.modem.followProgress(
      stream,
      (error: Error | null) => (error ? reject(error) : resolve()),
      (event: PullEvent) => {
        if (event.error) reject(new Error(event.error));
        const { current = 0, total = 0 } = event.progressDetail ?? {};
        if (event.id !== undefined && total > 0) layers.set(event.id, { current, total });
        if (performance.now() - said < SAY_EVERY || layers.size === 0) return;
        said = performance.now();
        const sum = (what: 'current' | 'total'): number =>
          [...layers.values()].reduce((all, layer) => all + layer[what], 0);
        progress(`fetching ${full}: ${megabytes(sum('current'))} of ${megabytes(sum('total'))}`);
      },
    );
  }).finally(() => late.abort());
  await tooLate;
  progress(`fetched ${full}`);
}

interface PullEvent {
  readonly id?: string;
  readonly error?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Not found, not allowed and not reachable are different things to whoever has to do something about it. */
function pullFailed(reference: string, error: unknown): SallyError {
  const said = engineSays(error);
  const hint = /unauthorized|denied|authentication|credentials|forbidden/i.test(said)
    ? 'it may be private: log in with docker login or podman login'
    : /not found|manifest unknown|no such|does not exist/i.test(said)
      ? 'check its name and tag'
      : codeOf(error) !== undefined || /dial|lookup|timeout|connection|network/i.test(said)
        ? 'the registry cannot be reached; check the network of the engine'
        : 'fetch it by hand to see more: docker pull, or podman pull';
  return new SallyError('workload.image_missing', `the image ${reference} cannot be had: ${said}`, {
    cause: error,
    hint,
  });
}
