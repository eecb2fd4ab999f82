import { readdir } from 'node:fs/promises';
import { delimiter, dirname, resolve } from 'node:path';
import { SallyError } from '../../base/index.ts';
import type { PackageReference } from '../../resources/index.ts';
import type { Environment, ProcessLaunch } from '../launch.ts';
import { findInstalled } from './installed.ts';
import { findProgram } from './program.ts';

/** The part of a launch that a package reference decides. */
export type Command = Pick<ProcessLaunch, 'command' | 'args' | 'cwd' | 'tool'>;

export interface ResolveOptions {
  /** The folder of the YAML file, or the working folder: relative paths and installed packages are looked up from here. */
  readonly from: string;
  /** Where programs are searched (`PATH`). */
  readonly env?: Environment;
}

const HOW_TO_GET = {
  npx: 'install Node.js with npm, npx comes with it: https://nodejs.org',
  npm: 'install Node.js with npm: https://nodejs.org',
  uvx: 'install uv, uvx comes with it: https://docs.astral.sh/uv',
  uv: 'install uv: https://docs.astral.sh/uv',
  go: 'install Go: https://go.dev/dl',
} as const;

/**
 * What to run for `npx://`, `uvx://` and `go://`. Everything stays an argument list and no shell reads it; a `--` in front
 * keeps a package name from being read as a flag.
 */
export async function resolvePackage(
  reference: PackageReference,
  args: readonly string[],
  options: ResolveOptions,
): Promise<Command> {
  const cwd = resolve(options.from);
  switch (reference.scheme) {
    case 'npx': {
      const { package: name, version } = reference;
      const installed = await findInstalled(name, version, cwd);
      if (installed?.isNode) return { command: process.execPath, args: [installed.file, ...args], cwd };
      if (installed) return { command: installed.file, args, cwd };
      const npx = await programFor('npx', options);
      return { command: npx, args: ['--yes', '--', pinned(name, version), ...args], cwd, tool: 'npm' };
    }
    case 'uvx': {
      const uvx = await programFor('uvx', options);
      return { command: uvx, args: ['--', pinned(reference.package, reference.version), ...args], cwd, tool: 'uv' };
    }
    case 'go': {
      if ('module' in reference) {
        const go = await programFor('go', options);
        return {
          command: go,
          args: ['run', '--', pinned(reference.module, reference.version ?? 'latest'), ...args],
          cwd,
          tool: 'go',
        };
      }
      const folder = resolve(cwd, reference.path);
      await checkGoFolder(folder, reference.path);
      // Go looks for the module around the folder it works in, so it must work in that one. The server then does as well.
      const go = await programFor('go', options);
      return { command: go, args: ['-C', folder, 'run', '--', '.', ...args], cwd, tool: 'go' };
    }
  }
}

function pinned(name: string, version: string | undefined): string {
  return version === undefined ? name : `${name}@${version}`;
}

export async function programFor(
  tool: keyof typeof HOW_TO_GET,
  { env = process.env }: Pick<ResolveOptions, 'env'>,
): Promise<string> {
  // The npx of the Node.js that runs us fits it best, and its npm does where there is no other; uvx and go have no such home.
  const home = dirname(process.execPath);
  const path = tool === 'npm' ? [env.PATH, home].join(delimiter) : env.PATH;
  const found = await findProgram(tool, path, tool === 'npx' ? home : undefined);
  if (found !== undefined) return found;
  throw new SallyError('workload.program_missing', `${tool} is not on the PATH`, { hint: HOW_TO_GET[tool] });
}

/** Whether there is a program of Go to run. */
export async function checkGoFolder(folder: string, path: string): Promise<void> {
  const files = await readdir(folder).catch((cause: unknown) => {
    throw new SallyError('workload.reference_invalid', `go://${path}: ${folder} is not a folder that can be read`, {
      cause,
      hint: 'the path counts from the folder of the file it is written in, on the command line from the working folder',
    });
  });
  if (files.some((file) => file.endsWith('.go') && !file.endsWith('_test.go'))) return;
  throw new SallyError('workload.reference_invalid', `go://${path}: there are no Go files in ${folder}`, {
    hint: 'name the folder of the main package',
  });
}
