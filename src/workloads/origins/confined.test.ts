import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SallyError } from '../../base/index.ts';
import { parsePackageReference } from '../../resources/index.ts';
import { resolveConfined } from './confined.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'sallyport-confined-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text: string, mode = 0o644): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await chmod(file, mode);
  return file;
}

/** A tool that notes how it was called, and then does what a script says. */
function tool(name: string, script: string): Promise<string> {
  return write(`bin/${name}`, `#!/bin/sh\necho "$@" >>${folder}/calls\nenv >${folder}/env\n${script}\n`, 0o755);
}

const INSTALLS = `mkdir -p node_modules/notes && echo '{"name":"notes","version":"2.0.0","bin":"cli.js"}' >node_modules/notes/package.json && : >node_modules/notes/cli.js`;

async function resolved(reference: string, from = folder) {
  const parsed = parsePackageReference(reference);
  if (!parsed) throw new Error(`${reference} is no reference`);
  const env = { PATH: `${folder}/bin:/usr/bin:/bin`, SALLYPORT_HOME: join(folder, 'home'), SECRET_TOKEN: 'ours' };
  return await resolveConfined(parsed, ['--fast'], { from, env, progress: () => {} });
}

const calls = async (): Promise<string[]> => (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');

describe('a package of npm behind walls', () => {
  it('that is installed needs the modules around it, and those above', async () => {
    await write('work/node_modules/notes/package.json', '{"name":"notes","version":"1.0.0","bin":"cli.js"}');
    const file = await write('work/node_modules/notes/cli.js', '');
    await write('node_modules/shared/package.json', '{}');
    expect(await resolved('npx://notes@1.0.0', join(folder, 'work/deep'))).toEqual({
      command: process.execPath,
      args: [file, '--fast'],
      needs: [join(folder, 'work/node_modules'), join(folder, 'node_modules')],
    });
  });

  it('is fetched once, without scripts, also where npm calls itself', async () => {
    await tool('npm', INSTALLS);
    const first = await resolved('npx://notes@2.0.0');
    expect(await resolved('npx://notes@2.0.0')).toEqual(first);
    expect(first.needs).toHaveLength(1);
    expect(first.args[0]).toBe(join(first.needs[0] ?? '', 'node_modules/notes/cli.js'));
    const [call, ...others] = await calls();
    expect(call).toMatch(/--ignore-scripts .*-- notes@2\.0\.0$/);
    expect(others).toEqual([]);
    const env = await readFile(join(folder, 'env'), 'utf8');
    expect(env).toContain('npm_config_ignore_scripts=true');
    expect(env).not.toContain('SECRET_TOKEN');
  });

  it('is fetched again when that was interrupted, and fails with what npm said', async () => {
    await tool('npm', `echo 'E404 not found' >&2; exit 1`);
    const error = await resolved('npx://notes').catch((thrown: unknown) => thrown as SallyError);
    expect(error).toMatchObject({ code: 'workload.build_failed', hint: 'check the name and version' });
    expect((error as SallyError).message).toContain('E404 not found');
    await tool('npm', INSTALLS);
    expect((await resolved('npx://notes')).needs).toHaveLength(1);
    expect(await calls()).toHaveLength(2);
  });

  it('without a program is refused', async () => {
    await tool('npm', ':');
    await expect(resolved('npx://notes')).rejects.toMatchObject({ code: 'workload.reference_invalid' });
  });
});

describe('a package of PyPI behind walls', () => {
  it('is fetched without builds, with the Python that it borrows', async () => {
    const python = await write('python/bin/python3', '', 0o755);
    await tool(
      'uv',
      `mkdir -p $UV_TOOL_BIN_DIR $UV_TOOL_DIR/notes/bin && : >$UV_TOOL_BIN_DIR/notes && ln -s ${python} $UV_TOOL_DIR/notes/bin/python`,
    );
    const { command, args, needs } = await resolved('uvx://notes@1.2');
    expect({ command, args }).toEqual({ command: join(needs[0] ?? '', 'bin/notes'), args: ['--fast'] });
    expect(needs[1]).toBe(join(folder, 'python'));
    expect(await calls()).toEqual(['tool install --no-build -- notes==1.2']);
  });
});

describe('a program of Go behind walls', () => {
  it('is compiled before, from a folder each time', async () => {
    await write('source/main.go', 'package main');
    await tool('go', `while [ "$1" != -o ]; do shift; done; mkdir -p $2 && : >$2/notes`);
    const { command, needs } = await resolved('go://./source');
    expect(command).toBe(join(needs[0] ?? '', 'bin/notes'));
    await resolved('go://./source');
    expect(await calls()).toHaveLength(2);
  });

  it('of a module is installed where nobody else looks', async () => {
    await tool('go', 'mkdir -p $GOBIN && : >$GOBIN/notes');
    const { command, needs } = await resolved('go://example.com/notes@v1.0.0');
    expect(command).toBe(join(needs[0] ?? '', 'bin/notes'));
    expect(await calls()).toEqual(['install -- example.com/notes@v1.0.0']);
  });
});
