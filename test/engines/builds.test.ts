import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BASE_IMAGE, type TestEngine } from '../support/engine.ts';
import { ensureGoImage, GO_IMAGE } from '../support/go-image.ts';
import { runServer } from '../support/run-server.ts';
import { connectClient, ROOT } from '../support/sally.ts';
import { sharedEngine } from '../support/shared-engines.ts';
import { type WorkloadHome, workloadHome } from '../support/workloads.ts';

// They wait for package indexes more than they compute, so several are made at once.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 600_000 });

/** Where the network goes through a proxy that opens TLS, builds need its certificate; this bundle has it, if there is one. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

const BUILD_FLAGS = ['--runtime-image', BASE_IMAGE, '--ca-cert', CERTIFICATES];

describe.concurrent.each(['docker', 'podman'] as const)('images that %s builds from packages', (kind) => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await sharedEngine(kind);
  });
  afterAll(async () => expect(await engine.containers()).toEqual([]));
  const newHome = (): Promise<WorkloadHome> => workloadHome([], engine.env);

  it('come from npm, run as nobody, and are there at once the second time', async () => {
    await using home = await newHome();
    const server = 'npx://@modelcontextprotocol/server-memory@2026.8.31';
    const env = { 'npm_config_//registry.example.com/:_authToken': 'hunter2-hunter2' };
    const built = (await home.ok(['build', server, ...BUILD_FLAGS], { env })).trim();
    const again = await home.sally(['build', server, ...BUILD_FLAGS]);
    expect({ ...again, stdout: again.stdout.trim() }).toEqual({ code: 0, stdout: built, stderr: '' });
    const [image] = JSON.parse(await engine.cli('image', 'inspect', built)) as {
      Config: { User: string; Env: string[] };
    }[];
    expect(image?.Config.User).toBe('65532:65532');
    // What the builder knew is in no layer and in no word about them.
    expect(JSON.stringify(image)).not.toContain('hunter2');
    expect(await engine.cli('history', '--no-trunc', built)).not.toContain('hunter2');
    await using running = await runServer(
      home,
      ['--name', 'memory', '--permission-profile', 'none', ...BUILD_FLAGS],
      server,
    );
    expect(await running.call('read_graph')).toContain('entities');
    const exported = JSON.parse(await readFile(await exportOf(home, 'memory'), 'utf8')) as Record<string, unknown>;
    expect(exported).toMatchObject({ image: server, runtime: 'container' });
    await home.ok(['rm', 'memory']);
  });

  it('come from a folder of Go, with nothing but the program in them', async () => {
    await ensureGoImage(engine);
    await using home = await newHome();
    const words = ['go://./test/fixtures/go-server', '--runtime-image', GO_IMAGE];
    const image = (await home.ok(['build', ...words], { cwd: ROOT })).trim();
    const [found] = JSON.parse(await engine.cli('image', 'inspect', image)) as { Size: number }[];
    expect(found?.Size).toBeLessThan(20_000_000);
    const said = await home.ok(['run', ...words, '--name', 'go', '--format', 'json', '--', 'one', 'two'], {
      cwd: ROOT,
    });
    await using session = await connectClient((JSON.parse(said) as { url: string }).url);
    const { content } = await session.client.callTool({ name: 'args' });
    expect(content).toEqual([{ type: 'text', text: 'one two' }]);
    await home.ok(['rm', 'go']);
  });

  it('have the system packages that were asked for', async () => {
    await using home = await newHome();
    const words = ['build', 'npx://is-number@7.0.0', ...BUILD_FLAGS, '--runtime-add-package', 'tree'];
    // A library is no server; the packages come before that is known, and are kept for the next build.
    expect((await home.sally(words)).stderr).toContain('has no program to run');
    const names = (await engine.cli('images', '--format', '{{.Repository}}:{{.Tag}}')).split('\n');
    const bases = names.filter((name) => name.includes('sallyport/npx-base:')); // others may have asked for other packages
    const said = bases.map((base) => engine.cli('run', '--rm', '--entrypoint', 'tree', base, '--version'));
    expect(await Promise.any(said)).toMatch(/^tree v/);
  });
});

// What differs between engines is seen above.
describe.concurrent('images that are built from packages', () => {
  const newHome = async (): Promise<WorkloadHome> => workloadHome([], (await sharedEngine('docker')).env);

  it('come from PyPI', async () => {
    await using home = await newHome();
    const server = await runServer(
      home,
      ['--name', 'time', ...BUILD_FLAGS, '--', '--local-timezone', 'UTC'],
      'uvx://mcp-server-time',
    );
    expect(await server.call('get_current_time', { timezone: 'UTC' })).toContain('UTC');
    await server[Symbol.asyncDispose]();
    await home.ok(['rm', 'time']);
  });

  it('fail with what the build said', async () => {
    await using home = await newHome();
    const { code, stderr } = await home.sally([
      'build',
      'npx://@modelcontextprotocol/there-is-no-such-server',
      ...BUILD_FLAGS,
    ]);
    expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining('check the name and version') });
  });
});

async function exportOf(home: WorkloadHome, name: string): Promise<string> {
  const file = join(home.folder, 'exported.json');
  await home.ok(['export', name, file]);
  return file;
}
