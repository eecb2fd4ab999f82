import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBounded, replaceFile, withLock } from './index.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sally-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('replacing a file', () => {
  it('makes the folders, keeps others out, and leaves no draft behind', async () => {
    const file = join(folder, 'a/b/file');
    await replaceFile(file, 'one');
    await replaceFile(file, 'two');
    expect(await readFile(file, 'utf8')).toBe('two');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, 'a/b'))).toEqual(['file']);
  });

  it('keeps a link and replaces what it points to', async () => {
    await writeFile(join(folder, 'real'), 'old');
    await symlink('real', join(folder, 'link'));
    await replaceFile(join(folder, 'link'), 'new');
    expect(await readlink(join(folder, 'link'))).toBe('real');
    expect(await readFile(join(folder, 'real'), 'utf8')).toBe('new');
  });

  it('leaves no draft behind when it fails', async () => {
    await mkdir(join(folder, 'taken'));
    await expect(replaceFile(join(folder, 'taken'), 'x')).rejects.toThrow();
    expect(await readdir(folder)).toEqual(['taken']);
  });
});

describe('reading a file', () => {
  it('gives its bytes up to the limit, and nothing where nothing is', async () => {
    await writeFile(join(folder, 'f'), 'abc');
    expect((await readBounded(join(folder, 'f'), 3))?.toString()).toBe('abc');
    expect(await readBounded(join(folder, 'none'), 3)).toBeUndefined();
    await expect(readBounded(join(folder, 'f'), 2)).rejects.toThrow('larger than 2 bytes');
  });

  it.runIf(process.platform === 'linux')('reads what is longer than the system says', async () => {
    const status = await readBounded('/proc/self/status', 100_000);
    expect(status?.toString()).toMatch(/^Name:.*VmRSS:.*\n$/s);
    await expect(readBounded('/proc/self/status', 100)).rejects.toThrow('larger than 100 bytes');
  });

  it('refuses a pipe and a device without waiting', { timeout: 2_000 }, async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await expect(readBounded(join(folder, 'pipe'), 10)).rejects.toThrow('not a regular file');
    await expect(readBounded('/dev/zero', 10)).rejects.toThrow('not a regular file');
  });
});

describe('the lock', () => {
  it('lets one at a time in, in one process as well', async () => {
    const lock = join(folder, 'l');
    let inside = 0;
    let most = 0;
    const turns = Array.from({ length: 8 }, () =>
      withLock(lock, async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inside -= 1;
      }),
    );
    await Promise.all(turns);
    expect(most).toBe(1);
  });

  it('is let go of when the work fails', async () => {
    const lock = join(folder, 'l');
    await expect(withLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withLock(lock, async () => 'in', { within: 0 })).toBe('in');
  });

  it('says who is in the way when others take too long, and is free as soon as a killed holder is gone', async () => {
    const lock = join(folder, 'l');
    const script = `import { withLock } from ${JSON.stringify(new URL('./lock.ts', import.meta.url).href)};
      await withLock(${JSON.stringify(lock)}, () => { process.stdout.write('held'); return new Promise((resolve) => setInterval(resolve, 1e6)); });`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(holder.stdout, 'data');
      await expect(withLock(lock, async () => {}, { within: 60 })).rejects.toMatchObject({
        code: 'file.busy',
        message: expect.stringContaining(lock),
      });
    } finally {
      holder.kill('SIGKILL');
      await once(holder, 'close');
    }
    expect(await withLock(lock, async () => 'in', { within: 0 })).toBe('in');
  });

  it('refuses a lock file that is something else', async () => {
    await writeFile(join(folder, 'l'), 'x'.repeat(2_000));
    await expect(withLock(join(folder, 'l'), async () => {})).rejects.toMatchObject({ code: 'config.unreadable' });
  });
});
