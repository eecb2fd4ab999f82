import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../support/processes.ts';
import { connectClient, ROOT } from '../support/sally.ts';
import { type View, type WorkloadHome, workloadHome } from '../support/workloads.ts';

// Each test starts many commands, and a busy machine takes its time for each.
vi.setConfig({ testTimeout: 120_000 });

const EVERYTHING = 'npx://@modelcontextprotocol/server-everything@2026.8.31';

async function callTool(url: string | undefined, name: string): Promise<string> {
  await using session = await connectClient(url ?? '');
  const { content } = await session.client.callTool({ name });
  return (content[0] as { text: string }).text;
}

const list = (home: WorkloadHome): Promise<View[]> => home.json<View[]>(['list', '--all']);
const view = (home: WorkloadHome, name: string): Promise<View> => home.json<View>(['status', name]);

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}

describe('the life of a workload', () => {
  it('runs in the background, answers when run comes back, and is listed, stopped, started and removed', async () => {
    await using home = await workloadHome();
    const said = await home.ok(['run', EVERYTHING, '--name', 'everything'], { cwd: ROOT });
    expect(said).toMatch(/^everything runs at http:\/\/127\.0\.0\.1:\d+\/mcp\n/);
    const url = /http:\S+/.exec(said)?.[0] ?? '';
    expect(await callTool(url, 'get-tiny-image')).toBeDefined();

    expect(await home.ok(['list'])).toMatch(
      new RegExp(`^everything +${EVERYTHING} +running +${url} +default +\\d+s$`, 'm'),
    );
    expect(await view(home, 'everything')).toMatchObject({ status: 'running', url, tools: expect.any(Number) });
    expect(JSON.parse(await home.ok(['list', '--format', 'mcpservers']))).toEqual({
      mcpServers: { everything: { type: 'http', url } },
    });
    expect(await home.ok(['logs', 'everything'])).toContain('Starting default (STDIO) server');

    expect(await home.ok(['stop', 'everything'])).toBe('');
    expect(await home.ok(['stop', 'everything'])).toBe(''); // twice is no error
    expect(home.processes()).toEqual([]);
    await expect(fetch(url)).rejects.toThrow();
    expect(await home.ok(['list'])).not.toContain('everything');
    expect(await view(home, 'everything')).toMatchObject({ status: 'stopped', repair: 'sally start everything' });

    // Clients keep the address.
    expect(await home.json(['start', 'everything'])).toEqual([{ name: 'everything', url, already: false }]);
    expect(await home.json(['start', 'everything'])).toEqual([{ name: 'everything', url, already: true }]);
    const { pid } = await view(home, 'everything');
    await home.ok(['restart', 'everything']);
    expect((await view(home, 'everything')).pid).not.toBe(pid);

    await home.ok(['rm', 'everything']);
    expect(home.processes()).toEqual([]);
    const again = await home.sally(['rm', 'everything']);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing to remove') });
    expect(await list(home)).toEqual([]);
  });

  it('has state and a socket that only its owner can read', async () => {
    await using home = await workloadHome();
    await home.ok(['run', 'npx://good']);
    const files = (await filesBelow(join(home.folder, 'home/state'))).filter((file) => !file.includes('/locks/'));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) expect({ file, mode: (await stat(file)).mode & 0o077 }).toEqual({ file, mode: 0 });
    for (const folder of ['state', 'state/workloads', 'state/sockets', 'state/workloads/good'])
      expect((await stat(join(home.folder, 'home', folder))).mode & 0o077).toBe(0);
  });

  it('fails with the last words of its server, and leaves neither a process nor a trace', async () => {
    await using home = await workloadHome(['exits']);
    const { code, stderr, stdout } = await home.sally(['run', 'npx://exits']);
    expect(code).toBe(5);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^error\[workload\.exited\]: exits ended with exit code 3/m);
    expect(stderr).toContain('the licence file is missing');
    expect(home.processes()).toEqual([]);
    expect(await list(home)).toEqual([]);
  });

  it('need not be waited for, and then says how it went when it is asked', async () => {
    await using home = await workloadHome(['good', 'exits']);
    expect(await home.ok(['run', 'npx://good', '--wait=false'])).toContain('sally status good');
    await eventually(
      () => view(home, 'good'),
      ({ status }) => status === 'running',
      15_000,
    );
    await home.ok(['run', 'npx://exits', '--wait=false']);
    const failed = await eventually(
      () => view(home, 'exits'),
      ({ status }) => status === 'failed',
      25_000,
    );
    expect(failed).toMatchObject({
      error: expect.stringContaining('exit code 3'),
      repair: expect.stringContaining('sally logs exits'),
    });
    expect(await home.ok(['logs', 'exits'])).toContain('the licence file is missing');
    expect((await home.sally(['start', 'exits'])).code).toBe(5);
  });

  it('is given up together with the command that waits for it', async () => {
    await using home = await workloadHome();
    await writeFile(join(home.folder, 'node_modules/good/good.cjs'), 'setInterval(() => {}, 1e6)');
    const child = spawn(process.execPath, [join(ROOT, 'bin/sally.js'), 'run', 'npx://good'], {
      cwd: home.folder,
      env: { ...process.env, ...home.env },
      stdio: 'ignore',
    });
    await eventually(
      () => home.processes().length,
      (count) => count >= 3, // the command, the supervisor, the server
    );
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    expect(code).toBe(1);
    expect(home.processes()).toEqual([]);
    expect(await list(home)).toEqual([]);
  });

  it('keeps its name to itself', async () => {
    await using home = await workloadHome();
    await home.ok(['run', 'npx://good']);
    const taken = await home.sally(['run', 'npx://good']);
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('--name') });
    await home.ok(['stop', 'good']);
    expect((await home.sally(['run', 'npx://good'])).stderr).toContain('sally start good');
    await home.ok(['run', 'npx://good', '--name', 'other']);
    expect((await list(home)).map(({ name, status }) => [name, status])).toEqual([
      ['good', 'stopped'],
      ['other', 'running'],
    ]);
  });

  it('in the foreground is a workload like the others, until it ends', async () => {
    await using home = await workloadHome();
    const child = spawn(process.execPath, [join(ROOT, 'bin/sally.js'), 'run', '-f', 'npx://good'], {
      cwd: home.folder,
      env: { ...process.env, ...home.env },
      stdio: 'ignore',
    });
    const running = await eventually(
      async () => (await list(home))[0],
      (found) => found?.status === 'running',
      15_000,
    );
    expect(await callTool(running?.url, 'pid')).toMatch(/^\d+$/);
    await home.ok(['stop', 'good']);
    if (child.exitCode === null) await once(child, 'exit');
    expect(child.exitCode).toBe(0);
    expect(await list(home)).toEqual([]);
  });

  it('leaves nothing behind, however often', async () => {
    await using home = await workloadHome();
    for (let cycle = 0; cycle < 15; cycle++) {
      await home.ok(['run', 'npx://good']);
      await home.ok(['rm', 'good']);
    }
    expect(home.processes()).toEqual([]);
    const left = (await filesBelow(join(home.folder, 'home'))).filter((file) => !file.includes('/locks/'));
    expect(left).toEqual([]);
  });
});

describe('when something dies', () => {
  it('a server that crashes is started again behind the same address', async () => {
    await using home = await workloadHome();
    const { url } = await home.json<{ url: string }>(['run', 'npx://good']);
    const before = Number(await callTool(url, 'pid'));
    process.kill(before, 'SIGKILL');
    const after = await eventually(
      () => callTool(url, 'pid').catch(() => ''),
      (pid) => pid !== '' && Number(pid) !== before,
      10_000,
    );
    expect(Number(after)).toBeGreaterThan(1);
    expect((await view(home, 'good')).status).toBe('running');
  });

  it('a supervisor that is killed takes its server along, is reported with the way out, and comes back', async () => {
    await using home = await workloadHome();
    const { url } = await home.json<{ url: string }>(['run', 'npx://good']);
    process.kill((await view(home, 'good')).pid ?? 0, 'SIGKILL');
    await eventually(home.processes, (left) => left.length === 0);
    expect(await view(home, 'good')).toMatchObject({ status: 'lost', repair: 'sally start good' });
    expect(await home.ok(['list'])).toContain('sally start good');
    expect(await home.json(['start', 'good'])).toMatchObject([{ url }]);
    expect(await callTool(url, 'pid')).toMatch(/^\d+$/);
  });

  it('a supervisor that is stopped with its machine is brought back by start --all, one that somebody stopped is not', async () => {
    await using home = await workloadHome();
    for (const name of ['one', 'two', 'three']) await home.ok(['run', 'npx://good', '--name', name]);
    await home.ok(['stop', 'two']);
    process.kill((await view(home, 'one')).pid ?? 0, 'SIGKILL');
    process.kill((await view(home, 'three')).pid ?? 0, 'SIGTERM'); // as a machine does that goes down
    await eventually(home.processes, (left) => left.length === 0);
    const started = await home.json<{ name: string }[]>(['start', '--all']);
    expect(started.map(({ name }) => name).sort()).toEqual(['one', 'three']);
    expect((await list(home)).map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
      'one running',
      'three running',
      'two stopped',
    ]);
  });

  it('a process that only has the number of the supervisor is left alone', async () => {
    await using home = await workloadHome();
    await home.ok(['run', 'npx://good']);
    process.kill((await view(home, 'good')).pid ?? 0, 'SIGKILL');
    await eventually(home.processes, (left) => left.length === 0);
    const bystander = spawn('sleep', ['60']);
    const file = join(home.folder, 'home/state/workloads/good/supervisor.json');
    const record = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...record, pid: bystander.pid }));
    expect((await view(home, 'good')).status).toBe('lost');
    await home.ok(['stop', 'good']);
    await home.ok(['rm', 'good']);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    bystander.kill();
  });

  it('a damaged file is named, the other workloads are listed, and removing repairs it', async () => {
    await using home = await workloadHome();
    await home.ok(['run', 'npx://good', '--name', 'sound']);
    await home.ok(['run', 'npx://good', '--name', 'hurt']);
    const file = join(home.folder, 'home/state/workloads/hurt/workload.json');
    for (const damage of ['{"version": 1', '', '[]', '{"version": 99}', '{"version": 1, "config": {}}']) {
      await writeFile(file, damage);
      const { code, stdout } = await home.sally(['list', '--all', '--format', 'json']);
      expect(code).toBe(0);
      const views = JSON.parse(stdout) as View[];
      expect(views.map(({ name, status }) => [name, status])).toEqual([
        ['hurt', 'broken'],
        ['sound', 'running'],
      ]);
      expect(views[0]).toMatchObject({
        error: expect.stringContaining(file),
        repair: expect.stringContaining('sally rm hurt'),
      });
    }
    expect((await home.sally(['stop', 'hurt'])).stderr).toContain('state.unreadable');
    await home.ok(['rm', 'hurt']);
    expect((await list(home)).map(({ name }) => name)).toEqual(['sound']);
    // Its supervisor went too.
    expect(home.processes()).toHaveLength(2);
  });

  it('asking changes nothing', async () => {
    await using home = await workloadHome();
    await home.ok(['run', 'npx://good']);
    process.kill((await view(home, 'good')).pid ?? 0, 'SIGKILL');
    await eventually(home.processes, (left) => left.length === 0);
    const state = async () => {
      const files = (await filesBelow(join(home.folder, 'home/state'))).sort();
      return await Promise.all(files.map(async (file) => [file, (await stat(file)).mtimeMs]));
    };
    const before = await state();
    await home.ok(['list', '--all']);
    await home.ok(['status', 'good']);
    await home.ok(['export', 'good']);
    await home.ok(['logs', 'good']);
    await home.ok(['group', 'list']);
    expect(await state()).toEqual(before);
  });
});

describe('two commands at once', () => {
  it('of many that run under one name, one succeeds', async () => {
    await using home = await workloadHome();
    const runs = await Promise.all(Array.from({ length: 6 }, () => home.sally(['run', 'npx://good'])));
    expect(runs.filter(({ code }) => code === 0)).toHaveLength(1);
    for (const { code, stderr } of runs) if (code !== 0) expect(stderr).toContain('workload.exists');
    expect((await view(home, 'good')).status).toBe('running');
    expect(home.processes()).toHaveLength(2); // one supervisor, one server
  });

  it('start, stop and restart in any order leave one workload, whole', async () => {
    await using home = await workloadHome();
    await home.ok(['run', 'npx://good']);
    const commands = ['stop', 'start', 'restart', 'stop', 'start', 'restart', 'start', 'stop'];
    await Promise.all(commands.map((command) => home.sally([command, 'good'])));
    await home.ok(['start', 'good']);
    expect((await view(home, 'good')).status).toBe('running');
    expect(home.processes()).toHaveLength(2);
    await home.ok(['stop', 'good']);
    expect(home.processes()).toEqual([]);
  });

  it('removing wins over starting', async () => {
    await using home = await workloadHome();
    await home.ok(['run', 'npx://good']);
    await Promise.all([
      home.sally(['restart', 'good']),
      home.sally(['start', 'good']),
      sleep(300).then(() => home.sally(['rm', 'good'])),
    ]);
    await home.sally(['rm', 'good']);
    expect(await list(home)).toEqual([]);
    expect(home.processes()).toEqual([]);
  });

  it('several names are dealt with together, and one that fails does not keep the others', async () => {
    await using home = await workloadHome();
    for (const name of ['one', 'two']) await home.ok(['run', 'npx://good', '--name', name]);
    const { code, stderr } = await home.sally(['stop', 'one', 'onne', 'two']);
    expect(code).toBe(1);
    expect(stderr).toContain('1 of 3 workloads failed');
    expect(stderr).toContain('did you mean one?');
    expect((await list(home)).map(({ status }) => status)).toEqual(['stopped', 'stopped']);
    expect((await home.sally(['stop'])).stderr).toContain('--all');
    expect((await home.sally(['stop', 'one', '--all'])).code).toBe(2);
  });
});
