import { setTimeout as sleep } from 'node:timers/promises';
import type { Container, ContainerCreateOptions } from 'dockerode';
import { printable, SallyError } from '../../base/index.ts';
import { attach } from '../runtimes/engine/attach.ts';
import { engineSays } from '../runtimes/engine/failures.ts';
import { labelsFor } from '../runtimes/engine/labels.ts';
import { containerName, ULIMITS } from '../runtimes/engine/settings.ts';
import { createLineReader } from '../runtimes/process/lines.ts';
import type { ImageParts } from './pull.ts';

/** Who builds: not root, and nobody that the image knows. */
export const BUILDER = 65_532;
const BUILD_WITHIN = 30 * 60_000;
const KEPT_LINES = 15;
const LONGEST_LINE = 1_000;
const MEMORY = 4 * 1024 ** 3;

export interface Step {
  /** For the words that people see. */
  readonly what: string;
  readonly image: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** An archive to unpack at the root before it starts. */
  readonly files: Buffer;
  /** System packages are installed by root, with the rights that the package manager needs; everything else by nobody. */
  readonly asRoot: boolean;
}

/** Runs one step of a build in a container and hands it over when it went well. The container is gone afterwards, however it went. */
export async function withBuild<T>(
  step: Step,
  parts: ImageParts,
  use: (container: Container) => Promise<T>,
): Promise<T> {
  return await withContainer(settings(step, parts), parts, async (container) => {
    await container.putArchive(step.files, { path: '/' });
    const said: string[] = [];
    const reader = createLineReader({
      limit: LONGEST_LINE,
      onLine: (line) => hear(line),
      onOverflow: (head) => hear(head.toString()),
    });
    function hear(line: string): void {
      const plain = printable(line);
      if (plain.trim() === '') return;
      said.push(plain);
      if (said.length > KEPT_LINES) said.shift();
      parts.progress(`  ${plain}`);
    }
    const pipes = await attach(container, parts.engine.address, { stdout: reader.push, stderr: reader.push });
    await container.start();
    pipes.stdin.end();
    const over = new AbortController();
    const late = sleep(BUILD_WITHIN, undefined, { signal: over.signal, ref: false }).then(
      () => container.kill().catch(() => {}),
      () => {},
    );
    const { StatusCode } = (await container.wait()) as { StatusCode: number };
    over.abort();
    await late;
    await pipes.ended;
    reader.end();
    if (StatusCode !== 0) throw failed(step.what, said);
    return await use(container);
  });
}

/** A container that is never started, to put files into and make an image of. */
export async function withContainer<T>(
  options: ContainerCreateOptions,
  { engine }: Pick<ImageParts, 'engine'>,
  use: (container: Container) => Promise<T>,
): Promise<T> {
  let container: Container | undefined;
  try {
    container = await engine.api.createContainer(options);
    return await use(container);
  } catch (error) {
    if (error instanceof SallyError) throw error;
    throw new SallyError(
      'workload.build_failed',
      `the container engine refused a step of the build: ${engineSays(error)}`,
      {
        cause: error,
        hint: 'look at the log of the engine',
      },
    );
  } finally {
    await container?.remove({ force: true, v: true }).catch(() => {}); // `reap` finds what is left
  }
}

function settings(
  { image, script, args, env, asRoot }: Step,
  { engine, env: ours }: ImageParts,
): ContainerCreateOptions {
  return {
    name: containerName('build', 'step'),
    Image: image,
    Entrypoint: ['/bin/sh'],
    Cmd: ['-c', script, 'build', ...args],
    User: asRoot ? '0:0' : `${BUILDER}:${BUILDER}`,
    WorkingDir: '/',
    Env: Object.entries({ HOME: '/tmp', ...env }).map(([name, value]) => `${name}=${value}`),
    Labels: labelsFor('build', 'build', ours),
    OpenStdin: true,
    StdinOnce: true,
    HostConfig: {
      NetworkMode: 'bridge',
      SecurityOpt: ['no-new-privileges'],
      ...(asRoot ? {} : { CapDrop: ['ALL'] }),
      ...(engine.limits.memory ? { Memory: MEMORY, MemorySwap: MEMORY } : {}),
      ...(engine.limits.pids ? { PidsLimit: 2_048 } : {}),
      Init: true,
      Ulimits: ULIMITS,
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}

function failed(what: string, said: readonly string[]): SallyError {
  const text = said.join('\n');
  const hint = /certificate|CERT_|self[- ]signed|x509|SSL/i.test(text)
    ? 'a proxy on the way opens TLS: give its certificate with --ca-cert'
    : /ENOTFOUND|EAI_AGAIN|Temporary failure|no such host|Network is unreachable|timed? ?out/i.test(text)
      ? 'the network of the engine does not reach the package index'
      : /404|E404|not found|No matching distribution|ETARGET|unknown revision/i.test(text)
        ? 'check the name and version of the package'
        : 'fix what the build says and try again';
  return new SallyError(
    'workload.build_failed',
    `${what} failed. Its last words:\n${said.map((line) => `  ${line}`).join('\n')}`,
    { hint },
  );
}
