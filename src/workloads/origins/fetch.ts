import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { withLock } from '../../base/files/index.ts';
import { cacheFolder, printable, SallyError } from '../../base/index.ts';
import type { Environment } from '../launch.ts';
import { toolEnvironment } from '../runtimes/process/environment.ts';

const WITHIN = 10 * 60_000;
const MOST_OUTPUT = 8 * 1024 ** 2;
const KEPT_LINES = 15;
/** Written last: a folder without it was left in the middle. */
const COMPLETE = '.complete';

export interface FetchOrder {
  /** What people call it, and what tells one folder from another. */
  readonly reference: string;
  readonly tool: 'npm' | 'uv' | 'go';
  readonly program: string;
  readonly args: (folder: string) => readonly string[];
  readonly variables?: (folder: string) => Readonly<Record<string, string>>;
  /** Its source may have changed: it is made anew each time. */
  readonly always?: boolean;
}

export interface FetchParts {
  readonly env: Environment;
  readonly progress: (line: string) => void;
}

/**
 * The folder of a package, fetched when it is not there: once the walls are up, its server can fetch nothing any more. Nothing of
 * the package is run for it, so whoever calls asks the tool for no scripts and no builds of strangers.
 */
export async function fetchPackage(order: FetchOrder, { env, progress }: FetchParts): Promise<string> {
  const key = createHash('sha256').update(order.reference).digest('hex').slice(0, 16);
  const folder = join(cacheFolder(env), 'packages', `${order.tool}-${key}`);
  return await withLock(
    `${folder}.lock`,
    async () => {
      const isThere = await stat(join(folder, COMPLETE)).catch(() => undefined);
      if (isThere && order.always !== true) return folder;
      progress(`fetching ${order.reference}`);
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Or npm would look for a project in the folders above.
      if (order.tool === 'npm') await writeFile(join(folder, 'package.json'), '{"private":true}\n');
      await run(order, folder, env);
      await writeFile(join(folder, COMPLETE), `${order.reference}\n`);
      return folder;
    },
    { within: WITHIN },
  );
}

async function run(order: FetchOrder, folder: string, env: Environment): Promise<void> {
  const said = await new Promise<string | undefined>((resolve) => {
    const options = {
      cwd: folder,
      env: { ...toolEnvironment(env, order.tool), ...order.variables?.(folder) },
      timeout: WITHIN,
      maxBuffer: MOST_OUTPUT,
      killSignal: 'SIGKILL' as const,
    };
    execFile(order.program, [...order.args(folder)], options, (error, stdout, stderr) =>
      resolve(error ? `${stdout}\n${stderr}`.trim() || error.message : undefined),
    );
  });
  if (said === undefined) return;
  const lines = said
    .split('\n')
    .slice(-KEPT_LINES)
    .map((line) => printable(line));
  throw new SallyError(
    'workload.build_failed',
    `${order.reference} cannot be fetched by ${basename(order.program)}:\n${lines.map((line) => `  ${line}`).join('\n')}`,
    { hint: /404|not found|no solution|ETARGET|unknown revision/i.test(said) ? 'check the name and version' : REMEDY },
  );
}

const REMEDY =
  'a package whose installation runs programs of its own has to be installed by you, or run in a container (Docker, Podman)';
