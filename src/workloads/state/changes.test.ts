import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { replaceFile } from '../../base/files/index.ts';
import { changesOf } from './changes.ts';

const LONG = 20_000;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sally-changes-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('tells of a file that is replaced, also while nobody waits', { timeout: LONG / 2 }, async () => {
  using changes = changesOf(folder, 'state.json');
  const waiting = changes.next(LONG);
  await replaceFile(join(folder, 'state.json'), 'one');
  await waiting;
  await replaceFile(join(folder, 'state.json'), 'two');
  await changes.next(LONG);
});

it('does not tell of the files beside it', async () => {
  using changes = changesOf(folder, 'state.json');
  let told = false;
  const waiting = changes.next(300).then(() => {
    told = true;
  });
  await replaceFile(join(folder, 'server.log'), 'words');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(told).toBe(false);
  await waiting;
});

it('waits for its time where there is nothing to watch', async () => {
  using changes = changesOf(join(folder, 'nowhere'), 'state.json');
  const began = performance.now();
  await changes.next(30);
  expect(performance.now() - began).toBeGreaterThan(25);
});
