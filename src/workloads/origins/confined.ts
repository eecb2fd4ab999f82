import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { SallyError } from '../../base/index.ts';
import type { PackageReference } from '../../resources/index.ts';
import { type FetchParts, fetchPackage } from './fetch.ts';
import { findInstalled, type InstalledProgram } from './installed.ts';
import { checkGoFolder, programFor } from './scheme.ts';

/** A command that needs no network to start, and what of this machine it has to see. */
export interface ConfinedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly needs: readonly string[];
}

export interface ConfinedOptions extends FetchParts {
  /** Relative paths and installed packages are looked up from here. */
  readonly from: string;
}

/** What to run for `npx://`, `uvx://` and `go://` behind walls. What is not installed is fetched now. */
export async function resolveConfined(
  reference: PackageReference,
  args: readonly string[],
  options: ConfinedOptions,
): Promise<ConfinedCommand> {
  switch (reference.scheme) {
    case 'npx':
      return await nodePackage(reference, args, options);
    case 'uvx':
      return await pythonPackage(reference, args, options);
    case 'go':
      return await goProgram(reference, args, options);
  }
}

type Indexed = Extract<PackageReference, { package: string }>;

async function nodePackage({ package: name, version }: Indexed, args: readonly string[], options: ConfinedOptions) {
  const own = await findInstalled(name, version, resolve(options.from));
  if (own) return nodeCommand(own, args, await modulesAround(own.file));
  const npm = await programFor('npm', options);
  const folder = await fetchPackage(
    {
      reference: `npx://${name}${version === undefined ? '' : `@${version}`}`,
      tool: 'npm',
      program: npm,
      args: (place) => [
        ...['install', '--prefix', place, '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'],
        ...['--', `${name}@${version ?? 'latest'}`],
      ],
      variables: () => NO_SCRIPTS,
    },
    options,
  );
  const fetched = await findInstalled(name, undefined, folder);
  if (!fetched) throw noProgram(name);
  return nodeCommand(fetched, args, [folder]);
}

/**
 * npm calls itself to prepare what comes from git, and forgets its own arguments then; variables reach that call too, and win over
 * settings that lie in a repository.
 */
const NO_SCRIPTS = { npm_config_ignore_scripts: 'true', npm_config_allow_git: 'none', npm_config_git: 'git' };

function nodeCommand({ file, isNode }: InstalledProgram, args: readonly string[], needs: readonly string[]) {
  const command = isNode ? { command: process.execPath, args: [file, ...args] } : { command: file, args };
  return { ...command, needs };
}

async function pythonPackage({ package: name, version }: Indexed, args: readonly string[], options: ConfinedOptions) {
  const uv = await programFor('uv', options);
  const pinned = version === undefined || version === 'latest' ? name : `${name}==${version}`;
  const folder = await fetchPackage(
    {
      reference: `uvx://${name}${version === undefined ? '' : `@${version}`}`,
      tool: 'uv',
      program: uv,
      args: () => ['tool', 'install', '--no-build', '--', pinned],
      variables: (place) => ({ UV_TOOL_DIR: join(place, 'tools'), UV_TOOL_BIN_DIR: join(place, 'bin') }),
    },
    options,
  );
  const command = join(folder, 'bin', name);
  if (!existsSync(command)) throw noProgram(name);
  // The environment of a tool borrows its Python from where uv found one.
  const [tool = ''] = await readdir(join(folder, 'tools')).then((names) =>
    names.filter((each) => !each.startsWith('.')),
  );
  const python = await realpath(join(folder, 'tools', tool, 'bin/python'));
  return { command, args, needs: [folder, ...(python.startsWith('/usr/') ? [] : [dirname(dirname(python))])] };
}

async function goProgram(
  reference: Extract<PackageReference, { scheme: 'go' }>,
  args: readonly string[],
  options: ConfinedOptions,
): Promise<ConfinedCommand> {
  const go = await programFor('go', options);
  const isFolder = 'path' in reference;
  const source = isFolder
    ? resolve(options.from, reference.path)
    : `${reference.module}@${reference.version ?? 'latest'}`;
  if (isFolder) await checkGoFolder(source, reference.path);
  const folder = await fetchPackage(
    {
      reference: `go://${source}`,
      tool: 'go',
      program: go,
      always: isFolder,
      args: (place) =>
        isFolder ? ['-C', source, 'build', '-o', `${join(place, 'bin')}/`, '--', '.'] : ['install', '--', source],
      variables: (place) => (isFolder ? {} : { GOBIN: join(place, 'bin') }),
    },
    options,
  );
  const [program] = await readdir(join(folder, 'bin')).catch(() => []);
  if (program === undefined) throw noProgram(source);
  return { command: join(folder, 'bin', program), args, needs: [folder] };
}

/** Where a program of npm finds itself and its dependencies: the outermost `node_modules` around it, and those above that. */
async function modulesAround(file: string): Promise<readonly string[]> {
  const parts = (await realpath(file)).split(sep);
  const index = parts.indexOf('node_modules');
  // A linked package lies in a folder of its own, with its dependencies below.
  const inner = index === -1 ? packageFolder(file) : parts.slice(0, index + 1).join(sep);
  const found = [inner];
  for (let folder = dirname(inner); folder !== dirname(folder); folder = dirname(folder)) {
    const modules = join(folder, 'node_modules');
    if (modules !== inner && existsSync(modules)) found.push(modules);
  }
  return found;
}

function packageFolder(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

function noProgram(name: string): SallyError {
  return new SallyError('workload.reference_invalid', `the package ${name} has no program of its name to run`, {
    hint: 'check the name of the package: a library is not a server',
  });
}
