import { codeOf, SallyError } from '../../../base/index.ts';

/** What the engine answered, in our words. Its own sentence is kept: it usually names the mount, port or image. */
export function refusedByEngine(name: string, error: unknown): SallyError {
  if (error instanceof SallyError) return error;
  const said = engineSays(error);
  if (statusOf(error) === undefined) {
    return new SallyError('workload.runtime_missing', `${name} cannot start: the container engine does not answer`, {
      cause: error,
      hint: 'look whether it runs: docker info, or podman info',
    });
  }
  return new SallyError('workload.exited', `${name} cannot start: the container engine refused it: ${said}`, {
    cause: error,
    hint: whatToDo(said),
  });
}

/** How a container ended. */
export interface ContainerExit {
  readonly code: number;
  readonly outOfMemory: boolean;
}

export function containerExited(name: string, exit: ContainerExit, lastLines: readonly string[]): SallyError {
  const how = exit.outOfMemory ? 'because it needed more memory than it may' : `with exit code ${exit.code}`;
  const words =
    lastLines.length === 0
      ? ' and left no word on stderr'
      : `. Its last words:\n${lastLines.map((line) => `  ${line}`).join('\n')}`;
  return new SallyError('workload.exited', `${name} ended ${how}${words}`, {
    hint: exit.outOfMemory ? 'give it more with --memory' : hintFor(lastLines, exit.code),
  });
}

/** The root file system of a container is read-only, and this server does not get along with that. */
export function needsToWrite(lastLines: readonly string[]): boolean {
  return lastLines.some((line) => /read-only file system|EROFS/i.test(line));
}

export function engineLost(name: string, cause: unknown): SallyError {
  return new SallyError('workload.exited', `${name} is out of reach: the connection to the container engine broke`, {
    cause,
    hint: 'the engine was stopped or restarted; the server is started again when it answers',
  });
}

export function containerRemoved(name: string): SallyError {
  return new SallyError('workload.exited', `${name} ended: somebody removed its container`, {
    hint: 'end it with: sally stop',
  });
}

export function relayFailed(name: string, said: string): SallyError {
  return new SallyError('workload.exited', `${name} cannot start: our relay ended in its container${said}`, {
    hint: 'the image for it must have Node.js 22 or later; SALLYPORT_RELAY_IMAGE names another one',
  });
}

export function statusOf(error: unknown): number | undefined {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}

export function engineSays(error: unknown): string {
  const json = (error as { json?: { message?: unknown } } | null)?.json;
  const said = typeof json?.message === 'string' ? json.message : error instanceof Error ? error.message : '';
  return said.replace(/\s+/g, ' ').trim().slice(0, 500) || (codeOf(error) ?? 'no reason was given');
}

function hintFor(lastLines: readonly string[], code: number): string {
  if (needsToWrite(lastLines)) return 'it wants to write to its own files: --read-only-root false allows it';
  if (lastLines.length > 0) return 'fix what the server says and start again';
  if (code === 0) return 'a stdio server runs until its input ends; this one may speak another transport (--transport)';
  return 'run the image by hand to see why';
}

function whatToDo(said: string): string {
  if (/port is already allocated|address already in use/i.test(said)) return 'choose another port with -p';
  if (/bind source path does not exist|no such file or directory/i.test(said))
    return 'correct the path, as the engine sees it';
  if (/no such image/i.test(said)) return 'the image is gone; run it again to fetch or build it';
  if (/executable file not found|exec/i.test(said)) return 'correct the arguments: the image has no such program';
  return 'correct what the engine complains about';
}
