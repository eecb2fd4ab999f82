import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkRunConfig } from '../../resources/index.ts';
import { createGroups } from './groups.ts';
import { openLogFile } from './log-file.ts';
import { followLog, tailLog } from './read-log.ts';
import type { WorkloadRecord } from './records.ts';
import { createWorkloadStore } from './store.ts';
import { type FileForm, readVersioned } from './versioned.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sally-state-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const config = checkRunConfig(
  { schema_version: 'sallyport/v1', name: 'notes', image: 'npx://notes', transport: 'stdio' },
  'test',
);
const RECORD: WorkloadRecord = { config, createdAt: '2026-01-05T09:00:00.000Z', wanted: 'running', ephemeral: false };

describe('the store of workloads', () => {
  it('gives back what was written, for its owner only', async () => {
    const store = createWorkloadStore({ SALLYPORT_HOME: home });
    await store.write('notes', { ...RECORD, instance: 'abc' });
    expect(await store.read('notes')).toEqual({ ...RECORD, instance: 'abc' });
    const supervisor = { pid: 1, born: 'x', instance: 'abc', socket: '/s', phase: 'failed', since: 'now' } as const;
    const error = { code: 'workload.exited', message: 'it ended', hint: 'start it' } as const;
    await store.writeSupervisor('notes', { ...supervisor, error });
    expect(await store.readSupervisor('notes')).toEqual({ ...supervisor, error });
    expect((await stat(join(home, 'state/workloads/notes/workload.json'))).mode & 0o777).toBe(0o600);
  });

  it('removes a workload whole, and knows nothing of one that never was', async () => {
    const store = createWorkloadStore({ SALLYPORT_HOME: home });
    await store.write('notes', RECORD);
    await store.remove('notes');
    await store.remove('notes');
    expect(await store.names()).toEqual([]);
    expect(await store.read('notes')).toBeUndefined();
    expect(await readdir(join(home, 'state/removed'))).toEqual([]);
  });

  it.each(['../notes', '..', 'a/b', '', '-x'])('refuses the name %j: it would become a path', (name) => {
    const store = createWorkloadStore({ SALLYPORT_HOME: home });
    expect(() => store.read(name)).toThrow('cannot name a workload');
  });

  it.each(['{', '[]', '{"version":0}', '{"version":2}', '{"version":1,"wanted":"maybe"}'])(
    'names the file that holds %s, and how to go on',
    async (text) => {
      const store = createWorkloadStore({ SALLYPORT_HOME: home });
      await mkdir(join(home, 'state/workloads/notes'), { recursive: true });
      await writeFile(join(home, 'state/workloads/notes/workload.json'), text);
      await expect(store.read('notes')).rejects.toMatchObject({
        code: 'state.unreadable',
        message: expect.stringContaining('workloads/notes/workload.json'),
        hint: expect.stringContaining('sally rm notes'),
      });
    },
  );
});

it('a file of an older version is read in its new form, step by step, and stays as it is', async () => {
  const form: FileForm<unknown> = {
    what: 'test',
    version: 3,
    migrations: {
      1: ({ name }) => ({ version: 2, title: name }),
      2: (old) => ({ ...old, version: 3, added: true }),
    },
    parse: (fields) => fields,
  };
  const file = join(home, 'old.json');
  await writeFile(file, '{"version":1,"name":"x"}');
  expect(await readVersioned(file, form, '')).toEqual({ version: 3, title: 'x', added: true });
  expect(await readFile(file, 'utf8')).toBe('{"version":1,"name":"x"}');
  await writeFile(file, '{"version":4}');
  await expect(readVersioned(file, form, '')).rejects.toThrow('newer version');
});

describe('groups', () => {
  it('always have default, which cannot be removed', async () => {
    const groups = createGroups({ SALLYPORT_HOME: home });
    expect(await groups.list()).toEqual(['default']);
    await groups.create('tools');
    expect(await groups.list()).toEqual(['default', 'tools']);
    await expect(groups.create('tools')).rejects.toMatchObject({ code: 'group.exists' });
    await expect(groups.create('default')).rejects.toMatchObject({ code: 'group.exists' });
    await expect(groups.remove('default')).rejects.toThrow('always there');
    await groups.remove('tools');
    await expect(groups.check('tools')).rejects.toMatchObject({ hint: 'make it with: sally group create tools' });
  });

  it.each(['Tools', 'a/b', '..', '', '-a', 'a'.repeat(64)])('are not called %j', async (name) => {
    await expect(createGroups({ SALLYPORT_HOME: home }).create(name)).rejects.toMatchObject({ code: 'usage.invalid' });
  });
});

describe('a log', () => {
  it('never grows without bound, and loses its oldest lines only', async () => {
    const path = join(home, 'logs/server.log');
    const log = openLogFile(path, { size: 1_000, kept: 2 });
    for (let line = 0; line < 200; line++) {
      log.write(`line ${String(line).padStart(3, '0')} of many\n`);
      if (line % 5 === 0) await log.flush();
    }
    await log.flush();
    const sizes = await Promise.all(['', '.1', '.2'].map(async (end) => (await stat(`${path}${end}`)).size));
    for (const size of sizes) expect(size).toBeLessThanOrEqual(1_000);
    expect((await readdir(join(home, 'logs'))).sort()).toEqual(['server.log', 'server.log.1', 'server.log.2']);
    expect(await tailLog(path, 3)).toBe('line 197 of many\nline 198 of many\nline 199 of many\n');
    expect((await tailLog(path, 60)).split('\n')).toHaveLength(61); // over the border of two files
  });

  it('says how many lines were lost when they came too fast, and keeps memory small', async () => {
    const path = join(home, 'server.log');
    const log = openLogFile(path);
    const line = `${'x'.repeat(1023)}\n`;
    for (let count = 0; count < 3_000; count++) log.write(line);
    await log.flush();
    expect(await readFile(path, 'utf8')).toMatch(/\n19\d\d lines were lost/);
  });

  it('is followed over the times that it is put aside, without a line twice or left out', async () => {
    const path = join(home, 'server.log');
    const log = openLogFile(path, { size: 400, kept: 5 });
    for (let line = 0; line < 5; line++) log.write(`line ${line} ünïcode\n`);
    await log.flush();
    const stop = new AbortController();
    let seen = '';
    const following = (async () => {
      for await (const text of followLog(path, 2, stop.signal)) seen += text;
    })();
    for (let line = 5; line < 40; line++) {
      log.write(`line ${line} ünïcode\n`);
      if (line % 6 === 0) {
        await log.flush();
        await sleep(230); // it looks five times a second
      }
    }
    await log.flush();
    await sleep(500);
    stop.abort();
    await following;
    expect(seen).toBe(Array.from({ length: 37 }, (_, index) => `line ${index + 3} ünïcode\n`).join(''));
  });

  it('that is not there is empty', async () => {
    expect(await tailLog(join(home, 'none.log'), 5)).toBe('');
  });
});
