import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, tempFolder } from '../support/sally.ts';

/** As somebody without any settings of ours would call it. */
function version(home: string): string {
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: home };
  return execFileSync(process.execPath, [join(ROOT, 'bin/sally.js'), '--version'], { env, encoding: 'utf8' });
}

describe('compiled code', () => {
  it('is kept in a folder of this user, and not where everybody can leave some', async () => {
    await using home = await tempFolder();
    version(home.path);
    const folder = join(home.path, '.cache/sallyport/compiled');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await readdir(folder)).not.toEqual([]);
    expect(await readdir(home.path)).toEqual(['.cache']);
  });

  it('is not believed where others can write', async () => {
    await using home = await tempFolder();
    const folder = join(home.path, '.cache/sallyport/compiled');
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o777);
    expect(version(home.path)).toMatch(/^\d/);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is done without where there is no place for it', async () => {
    expect(version(join(ROOT, 'package.json'))).toMatch(/^\d/);
  });
});
