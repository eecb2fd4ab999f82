import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startHttpMcpServer } from '../support/http-mcp-server.ts';
import { eventually } from '../support/processes.ts';
import { connectClient, ROOT } from '../support/sally.ts';
import { type View, workloadHome } from '../support/workloads.ts';

// Each test starts many commands, and a busy machine takes its time for each.
vi.setConfig({ testTimeout: 120_000 });

async function environmentOf(url: string | undefined): Promise<Record<string, string>> {
  await using session = await connectClient(url ?? '');
  const { content } = await session.client.callTool({ name: 'env' });
  return JSON.parse((content[0] as { text: string }).text) as Record<string, string>;
}

describe('export and --from-config', () => {
  it('lead from a workload to the same workload', async () => {
    await using home = await workloadHome();
    const flags = ['-e', 'LEVEL=debug', '-l', 'team=a', '--tools', 'pid,env', '--session-mode', 'per-session'];
    await home.ok(['run', 'npx://good', '--name', 'notes', ...flags, '--', '--read-only']);
    await home.ok(['export', 'notes', 'first.json']);
    await home.ok(['rm', 'notes']);
    await home.ok(['run', '--from-config', 'first.json']);
    await home.ok(['export', 'notes', 'second.json']);
    const [first, second] = await Promise.all(
      ['first.json', 'second.json'].map((file) => readFile(join(home.folder, file), 'utf8')),
    );
    expect(second).toBe(first);
    expect(await environmentOf((await home.json<View>(['status', 'notes'])).url)).toMatchObject({ LEVEL: 'debug' });

    const other = await home.sally(['run', '--from-config', 'first.json', '--tools', 'pid']);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('--tools') });
    expect((await home.sally(['run', '--from-config', 'first.json'])).stderr).toContain('workload.exists');
  });

  it('runs what ToolHive exported, and names what means nothing here', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await workloadHome();
    const exported = {
      schema_version: 'v0.1.0',
      image: remote.url,
      remote_url: remote.url,
      name: 'far',
      base_name: 'far',
      container_name: 'far',
      transport: 'streamable-http',
      proxy_mode: 'streamable-http',
      host: '127.0.0.1',
      port: 0,
      group: 'default',
      debug: true,
      session_ttl: '2h0m0s',
      env_vars: { MCP_TRANSPORT: 'streamable-http' },
      container_labels: { toolhive: 'true', 'toolhive-name': 'far', team: 'a' },
      tools_filter: ['say'],
      middleware_configs: [
        { type: 'tool-filter', parameters: {} },
        { type: 'auth', parameters: {} },
        { type: 'mcp-parser' },
      ],
      header_forward: { add_plaintext_headers: { 'X-Team': 'support' } },
    };
    await writeFile(join(home.folder, 'far.json'), JSON.stringify(exported));
    const { code, stderr } = await home.sally(['run', '--from-config', 'far.json']);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('debug, session_ttl') });
    expect(remote.seen.at(-1)).toMatchObject({ 'x-team': 'support' });
    expect(await home.json<View>(['status', 'far'])).toMatchObject({ status: 'running', labels: { team: 'a' } });

    await writeFile(
      join(home.folder, 'far.json'),
      JSON.stringify({ ...exported, name: 'x', authz_config: { version: '1' } }),
    );
    const refused = await home.sally(['run', '--from-config', 'far.json']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('authz_config') });
  });
});

describe('update', () => {
  it('changes a workload that runs, behind the same address', async () => {
    await using home = await workloadHome();
    const { url } = await home.json<{ url: string }>(['run', 'npx://good', '-e', 'A=1', '-e', 'B=1']);
    expect(await home.ok(['update', 'good', '-e', 'B=2', '-e', 'C=3'])).toBe(`good runs at ${url}\n`);
    expect(await environmentOf(url)).toMatchObject({ A: '1', B: '2', C: '3' });
    expect(await home.ok(['update', 'good', '-e', 'C=3'])).toContain('like that already');
    await home.ok(['stop', 'good']);
    expect(await home.ok(['update', 'good', '--tools', 'env'])).toContain('does not run');
    expect(JSON.parse(await home.ok(['export', 'good']))).toMatchObject({
      tools_filter: ['env'],
      env_vars: { B: '2' },
    });
    expect((await home.sally(['update', 'god', '-e', 'A=1'])).stderr).toContain('did you mean good?');
    expect((await home.sally(['update', 'good', '--stateless'])).code).toBe(2);
  });

  it('goes back to the old form when the new one does not come up', async () => {
    await using home = await workloadHome();
    const { url } = await home.json<{ url: string }>(['run', 'npx://good', '-e', 'A=1']);
    const before = await home.ok(['export', 'good']);
    const { code, stderr } = await home.sally([
      'update',
      'good',
      '--transport',
      'streamable-http',
      '--host',
      '192.0.2.1',
      '--insecure-allow-anonymous',
    ]);
    expect(code).toBe(5);
    expect(stderr).toContain('so the old form runs again');
    expect(await home.ok(['export', 'good'])).toBe(before);
    expect(await environmentOf(url)).toMatchObject({ A: '1' });
  });
});

describe('groups', () => {
  it('are made, filled, run and removed, and default is always there', async () => {
    await using home = await workloadHome();
    expect(await home.json(['group', 'list'])).toEqual([{ name: 'default', workloads: [] }]);
    await home.ok(['group', 'create', 'tools']);
    expect((await home.sally(['group', 'create', 'tools'])).code).toBe(1);
    expect((await home.sally(['group', 'create', '../x'])).code).toBe(2);
    for (const name of ['one', 'two']) await home.ok(['run', 'npx://good', '--name', name, '--group', 'tools']);
    await home.ok(['run', 'npx://good', '--name', 'three']);
    expect(await home.json(['group', 'list'])).toEqual([
      { name: 'default', workloads: ['three'] },
      { name: 'tools', workloads: ['one', 'two'] },
    ]);
    await home.ok(['stop', '--group', 'tools']);
    expect((await home.json<View[]>(['list'])).map(({ name }) => name)).toEqual(['three']);
    const ran = await home.json<{ name: string; url: string }[]>(['group', 'run', 'tools']);
    expect(ran.map(({ name }) => name)).toEqual(['one', 'two']);

    const full = await home.sally(['group', 'rm', 'tools']);
    expect(full).toMatchObject({ code: 2, stderr: expect.stringContaining('one, two') });
    await home.ok(['group', 'rm', 'tools', '--keep-workloads']);
    expect(await home.json(['group', 'list'])).toEqual([{ name: 'default', workloads: ['one', 'three', 'two'] }]);
    expect((await home.sally(['group', 'rm', 'default', '--with-workloads'])).stderr).toContain('always there');
    await home.ok(['group', 'create', 'last']);
    await home.ok(['update', 'one', '--group', 'last']);
    await home.ok(['group', 'rm', 'last', '--with-workloads']);
    expect((await home.json<View[]>(['list', '--all'])).map(({ name }) => name)).toEqual(['three', 'two']);
  });
});

describe('logs', () => {
  it('show what a server says, and go on showing it', async () => {
    await using home = await workloadHome();
    const file = join(home.folder, 'node_modules/good/good.cjs');
    const noisy = `${await readFile(file, 'utf8')}\nlet n = 0; setInterval(() => console.error('tick', n++, process.env.API_TOKEN), 100);`;
    await writeFile(file, noisy);
    await home.ok(['run', 'npx://good', '-e', 'API_TOKEN=hunter-two']);
    const following = spawn(process.execPath, [join(ROOT, 'bin/sally.js'), 'logs', '-f', '-n', '3', 'good'], {
      env: { ...process.env, ...home.env },
    });
    let seen = '';
    following.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk;
    });
    await eventually(
      () => seen.split('\n').length,
      (lines) => lines > 12,
      10_000,
    );
    following.kill('SIGINT');
    await once(following, 'exit');
    expect(following.exitCode).toBe(0);
    const ticks = [...seen.matchAll(/tick (\d+) \[secret\]/g)].map(([, number]) => Number(number));
    expect(ticks.length).toBeGreaterThan(8);
    expect(ticks).toEqual(ticks.map((_, index) => (ticks[0] ?? 0) + index)); // none twice, none left out
    expect(seen).not.toContain('hunter');
    expect((await home.ok(['logs', '-n', '2', 'good'])).trimEnd().split('\n')).toHaveLength(2);
    expect((await home.sally(['logs', 'goood'])).stderr).toContain('did you mean good?');
  });
});

it('every command says how it is used, with examples', async () => {
  await using home = await workloadHome([]);
  for (const command of [
    'run',
    'list',
    'status',
    'logs',
    'stop',
    'start',
    'restart',
    'update',
    'rm',
    'export',
    'group create',
    'group run',
  ]) {
    expect(await home.ok([...command.split(' '), '--help'])).toContain(`Examples:\n  sally ${command} `);
  }
  expect(await home.ok(['--help'])).not.toContain('supervise');
});
