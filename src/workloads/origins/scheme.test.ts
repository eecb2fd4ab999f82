import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolvePackage } from './scheme.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'sallyport-scheme-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text: string, mode = 0o644): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await chmod(file, mode);
  return file;
}

/** Installs a package the way npm leaves it on disk. */
async function install(name: string, manifest: object, at = ''): Promise<string> {
  const home = join(at, 'node_modules', name);
  await write(join(home, 'package.json'), JSON.stringify({ name, version: '2.1.0', ...manifest }));
  return write(join(home, 'cli.js'), '#!/usr/bin/env node\n');
}

/** Root may read everything, and tests in a container are often run by root. */
async function asSomebody(body: () => Promise<void>): Promise<void> {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65534);
  try {
    await body();
  } finally {
    if (root) process.seteuid?.(0);
  }
}

const program = (name: string) => write(join('bin', name), '#!/bin/sh\n', 0o755);
const options = (from = folder) => ({ from, env: { PATH: `relative::${join(folder, 'bin')}` } });

describe('npx://', () => {
  it('runs an installed package with our own Node.js', async () => {
    const cli = await install('@acme/notes', { bin: 'cli.js' });
    const found = await resolvePackage(
      { scheme: 'npx', package: '@acme/notes', version: '2.1.0' },
      ['--db', 'x'],
      options(),
    );
    expect(found).toEqual({ command: process.execPath, args: [cli, '--db', 'x'], cwd: folder });
  });

  it('finds a package that is installed further up', async () => {
    const cli = await install('notes', { bin: { notes: './cli.js', other: 'other.js' } });
    await install('notes', { bin: 'cli.js', version: '1.0.0' }, 'deep');
    const from = join(folder, 'deep/er');
    const found = await resolvePackage({ scheme: 'npx', package: 'notes', version: '2.1.0' }, [], options(from));
    expect(found.args).toEqual([cli]);
  });

  it('asks npx for a package or a version that is not installed', async () => {
    await program('npx');
    await install('notes', { bin: 'cli.js' });
    const found = await resolvePackage({ scheme: 'npx', package: 'notes', version: '3.0.0' }, ['-v'], options());
    // Which npx depends on the machine: one beside our own Node.js goes first.
    expect(isAbsolute(found.command) && found.command.endsWith('/npx')).toBe(true);
    expect(found).toMatchObject({ args: ['--yes', '--', 'notes@3.0.0', '-v'], cwd: folder, tool: 'npm' });
    const other = await resolvePackage({ scheme: 'npx', package: '@acme/notes' }, [], options());
    expect(other.args).toEqual(['--yes', '--', '@acme/notes']);
  });

  it('does not take a package of another name in the same place for the asked one', async () => {
    await program('npx');
    await install('notes', { name: 'impostor', bin: 'cli.js' });
    const found = await resolvePackage({ scheme: 'npx', package: 'notes' }, [], options());
    expect(found.args).toEqual(['--yes', '--', 'notes']);
  });

  it('takes the only program, whatever its name', async () => {
    const cli = await install('notes', { bin: { 'mcp-server-notes': 'cli.js' } });
    expect((await resolvePackage({ scheme: 'npx', package: 'notes' }, [], options())).args).toEqual([cli]);
  });

  it('lists the programs when it cannot choose', async () => {
    await install('notes', { bin: { one: 'cli.js', two: 'two.js' } });
    const found = resolvePackage({ scheme: 'npx', package: 'notes' }, [], options());
    await expect(found).rejects.toMatchObject({
      code: 'workload.reference_invalid',
      message: expect.stringMatching('one, two'),
    });
  });

  it('says so when a package has no program', async () => {
    await install('notes', {});
    await expect(resolvePackage({ scheme: 'npx', package: 'notes' }, [], options())).rejects.toThrow(
      'no program to run',
    );
  });

  it('says so when the program of a package is missing', async () => {
    await install('notes', { bin: 'gone.js' });
    await expect(resolvePackage({ scheme: 'npx', package: 'notes' }, [], options())).rejects.toThrow('gone.js');
  });

  it('says so when the program of a package is a folder or a pipe', async () => {
    await install('folder', { bin: 'lib' });
    await mkdir(join(folder, 'node_modules/folder/lib'));
    await install('pipe', { bin: 'pipe' });
    execFileSync('mkfifo', [join(folder, 'node_modules/pipe/pipe')]);
    for (const name of ['folder', 'pipe']) {
      await expect(resolvePackage({ scheme: 'npx', package: name }, [], options())).rejects.toMatchObject({
        code: 'workload.reference_invalid',
        message: expect.stringMatching('is not a file'),
        hint: expect.stringMatching('install the package again'),
      });
    }
  });

  it('says so when the program of a package may not be read', async () => {
    const cli = await install('notes', { bin: 'cli.js' });
    await chmod(folder, 0o755);
    await chmod(cli, 0o000);
    await asSomebody(async () => {
      await expect(resolvePackage({ scheme: 'npx', package: 'notes' }, [], options())).rejects.toMatchObject({
        code: 'workload.reference_invalid',
        message: expect.stringMatching('cannot be read'),
        hint: 'check its permissions',
        cause: { code: 'EACCES' },
      });
    });
  });

  it('refuses a program outside the folder of its package, by dots and by links', async () => {
    const outside = await write('outside.js', '');
    await install('dots', { bin: '../../outside.js' });
    await install('links', { bin: 'link.js' });
    await symlink(outside, join(folder, 'node_modules/links/link.js'));
    for (const name of ['dots', 'links']) {
      await expect(resolvePackage({ scheme: 'npx', package: name }, [], options())).rejects.toThrow(
        'outside its folder',
      );
    }
  });

  it('follows the link of a package that is stored elsewhere', async () => {
    const cli = await install('notes', { bin: 'cli.js' }, 'store');
    await mkdir(join(folder, 'node_modules'));
    await symlink(dirname(cli), join(folder, 'node_modules/notes'));
    expect((await resolvePackage({ scheme: 'npx', package: 'notes' }, [], options())).args).toEqual([cli]);
  });

  it('starts a program that is not JavaScript by itself', async () => {
    await install('notes', { bin: 'run.sh' });
    const script = await write('node_modules/notes/run.sh', '#!/bin/sh\n', 0o755);
    expect(await resolvePackage({ scheme: 'npx', package: 'notes' }, ['a'], options())).toMatchObject({
      command: script,
      args: ['a'],
    });
  });
});

describe('uvx://', () => {
  it('asks uvx, by its absolute path', async () => {
    const uvx = await program('uvx');
    const found = await resolvePackage({ scheme: 'uvx', package: 'notes', version: '1.0' }, ['--db'], options());
    expect(found).toEqual({ command: uvx, args: ['--', 'notes@1.0', '--db'], cwd: folder, tool: 'uv' });
  });

  it('says how to get uvx', async () => {
    await write('bin/uvx', 'not executable');
    const found = resolvePackage({ scheme: 'uvx', package: 'notes' }, [], options());
    await expect(found).rejects.toMatchObject({
      code: 'workload.program_missing',
      hint: expect.stringMatching('install uv'),
    });
  });
});

describe('go://', () => {
  it('runs a module, the latest version when none is named', async () => {
    const go = await program('go');
    const found = await resolvePackage({ scheme: 'go', module: 'acme.dev/notes' }, ['-v'], options());
    expect(found).toEqual({ command: go, args: ['run', '--', 'acme.dev/notes@latest', '-v'], cwd: folder, tool: 'go' });
    const pinned = await resolvePackage({ scheme: 'go', module: 'acme.dev/notes', version: 'v1.2.3' }, [], options());
    expect(pinned.args).toEqual(['run', '--', 'acme.dev/notes@v1.2.3']);
  });

  it('runs the package of a local folder, inside that folder', async () => {
    await program('go');
    await write('cmd/notes/main.go', 'package main');
    const found = await resolvePackage({ scheme: 'go', path: './cmd/notes' }, ['-v'], options());
    expect(found).toMatchObject({ args: ['-C', join(folder, 'cmd/notes'), 'run', '--', '.', '-v'], tool: 'go' });
  });

  it('refuses a folder that is missing or has no Go files', async () => {
    await program('go');
    await write('docs/main_test.go', 'package main');
    await expect(resolvePackage({ scheme: 'go', path: './nowhere' }, [], options())).rejects.toThrow(
      'nowhere is not a folder',
    );
    await expect(resolvePackage({ scheme: 'go', path: './docs' }, [], options())).rejects.toThrow('no Go files');
  });

  it('says how to get Go', async () => {
    const found = resolvePackage({ scheme: 'go', module: 'acme.dev/notes' }, [], options());
    await expect(found).rejects.toMatchObject({
      code: 'workload.program_missing',
      hint: expect.stringMatching('go.dev'),
    });
  });
});
