import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WatchOptions, watchFolder } from './watch-folder.ts';

let root: string;
let folder: string;
let stop: AbortController;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sally-watch-'));
  folder = join(root, 'resources');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.yaml'), 'a');
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  rmSync(root, { recursive: true, force: true });
});

/** Whether a change is reported within a second after `act`. */
async function isSeen(act: () => void, options: WatchOptions = { settle: 30, poll: 60_000 }): Promise<boolean> {
  const changes = watchFolder(folder, stop.signal, options)[Symbol.asyncIterator]();
  const next = changes.next();
  await later(50);
  act();
  return Promise.race([next.then(({ done }) => !done), later(1_000).then(() => false)]);
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a folder of resources', () => {
  it.each<[string, () => void]>([
    ['a changed file', () => writeFileSync(join(folder, 'a.yaml'), 'more')],
    ['a new file', () => writeFileSync(join(folder, 'b.yml'), 'b')],
    ['a removed file', () => rmSync(join(folder, 'a.yaml'))],
    [
      'a file replaced by a rename, as editors save',
      () => {
        writeFileSync(join(folder, '.a.yaml.swp'), 'saved');
        renameSync(join(folder, '.a.yaml.swp'), join(folder, 'a.yaml'));
      },
    ],
    [
      'a file in a new sub-folder',
      () => {
        mkdirSync(join(folder, 'more'));
        writeFileSync(join(folder, 'more', 'c.json'), '{"kind": "MCPGroup"}');
      },
    ],
    [
      'the folder put in place of another',
      () => {
        mkdirSync(join(root, 'next'));
        writeFileSync(join(root, 'next', 'z.yaml'), 'z');
        renameSync(folder, join(root, 'old'));
        renameSync(join(root, 'next'), folder);
      },
    ],
  ])('reports %s', async (_, act) => {
    expect(await isSeen(act, { settle: 30, poll: 200 })).toBe(true);
  });

  it('reports a swapped ..data link, as a mounted ConfigMap changes', async () => {
    mkdirSync(join(folder, '..1'));
    writeFileSync(join(folder, '..1', 'm.yaml'), 'one');
    symlinkSync('..1', join(folder, '..data'));
    symlinkSync('..data/m.yaml', join(folder, 'm.yaml'));
    const swap = (): void => {
      mkdirSync(join(folder, '..2'));
      writeFileSync(join(folder, '..2', 'm.yaml'), 'number two');
      symlinkSync('..2', join(folder, '..data_tmp'));
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    expect(await isSeen(swap)).toBe(true);
  });

  it('does not wait forever for a folder that is written to all the time', async () => {
    let count = 0;
    const busy = setInterval(() => writeFileSync(join(folder, 'b.yaml'), `${count++}`), 20);
    try {
      expect(await isSeen(() => {}, { settle: 100, patience: 500, poll: 60_000 })).toBe(true);
    } finally {
      clearInterval(busy);
    }
  });

  it('says nothing about the state that a server keeps as JSON, until it looks like a resource', async () => {
    const changes = watchFolder(folder, stop.signal, { settle: 30, poll: 60_000 })[Symbol.asyncIterator]();
    const next = changes.next().then(() => 'seen');
    for (const text of ['{', '{"a": 1}', '{"a": 2}']) {
      await later(60);
      writeFileSync(join(folder, 'state.json'), text);
    }
    expect(await Promise.race([next, later(300).then(() => 'not seen')])).toBe('not seen');
    writeFileSync(join(folder, 'state.json'), '{"kind": "MCPGroup"}');
    expect(await next).toBe('seen');
  });

  it('says nothing about hidden and other files', async () => {
    const act = (): void => {
      writeFileSync(join(folder, '.hidden.yaml'), 'x');
      writeFileSync(join(folder, 'notes.txt'), 'x');
    };
    expect(await isSeen(act)).toBe(false);
  });

  it('counts a change between the call and the first wait', async () => {
    const changes = watchFolder(folder, stop.signal, { settle: 30, poll: 60_000 });
    await later(50);
    writeFileSync(join(folder, 'b.yaml'), 'b');
    const { done } = await changes[Symbol.asyncIterator]().next();
    expect(done).toBe(false);
  });

  it('reports several writes in a row once', async () => {
    const changes = watchFolder(folder, stop.signal, { settle: 100, poll: 60_000 })[Symbol.asyncIterator]();
    const first = changes.next();
    for (const text of ['1', '12', '123']) {
      await later(20);
      writeFileSync(join(folder, 'a.yaml'), text);
    }
    await first;
    expect(await Promise.race([changes.next().then(() => 'again'), later(400).then(() => 'once')])).toBe('once');
  });

  it('waits for a folder that is gone to come back', async () => {
    rmSync(folder, { recursive: true });
    const act = (): void => {
      mkdirSync(folder);
      writeFileSync(join(folder, 'a.yaml'), 'back');
    };
    expect(await isSeen(act, { settle: 30, poll: 100 })).toBe(true);
  });

  it('ends with the signal', async () => {
    const changes = watchFolder(folder, stop.signal)[Symbol.asyncIterator]();
    const next = changes.next();
    stop.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});
