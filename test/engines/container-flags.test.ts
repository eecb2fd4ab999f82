import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it, vi } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import { BASE_IMAGE, SERVER_IMAGE, type TestEngine } from '../support/engine.ts';
import { eventually, freePort } from '../support/processes.ts';
import { connectClient } from '../support/sally.ts';
import { sharedEngine } from '../support/shared-engines.ts';
import { type WorkloadHome, workloadHome } from '../support/workloads.ts';

/** What each flag about containers does; how containers behave in general is in containers.test.ts. */

// Engines take their time, and the base image is made when it is not there yet.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 600_000 });

/** Where the network goes through a proxy that opens TLS, builds need its certificate; this bundle has it, if there is one. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

let engine: TestEngine;
beforeAll(async () => {
  engine = await sharedEngine('docker');
});

const newHome = (): Promise<WorkloadHome> => workloadHome([], engine.env);

type Call = (tool: string, args?: Record<string, unknown>) => Promise<string>;

/** Runs a server, hands over a way to call its tools, and removes it. */
async function withServer(
  home: WorkloadHome,
  flags: readonly string[],
  use: (call: Call) => Promise<void>,
): Promise<void> {
  const { url } = await home.json<{ url: string }>(['run', SERVER_IMAGE, '--name', 'box', ...flags]);
  {
    await using session = await connectClient(url);
    await use(async (tool, args = {}) => {
      const { content, isError } = await session.client.callTool({ name: tool, arguments: args });
      return `${isError ? 'ERR ' : ''}${(content[0] as { text: string }).text}`;
    });
  }
  await home.ok(['rm', 'box']);
}

async function inspected(): Promise<{ readonly NetworkSettings: { readonly Networks: object } }> {
  const [found] = JSON.parse(await engine.cli('inspect', ...(await engine.containers())));
  return found;
}

it('-p opens one more port of the container, on this machine only', async () => {
  await using home = await newHome();
  const port = await freePort();
  await withServer(home, ['-p', `${port}:8081`], async (call) => {
    expect(await call('listen', { port: 8081 })).toBe('listening');
    const said = () => fetch(`http://127.0.0.1:${port}/`).then((response) => response.text());
    expect(
      await eventually(
        () => said().catch(() => ''),
        (text) => text !== '',
        20_000,
      ),
    ).toBe('hello from inside');
    const bound = await engine.cli('ps', '--format', '{{.Ports}}');
    expect(bound).toContain(`127.0.0.1:${port}->8081/tcp`);
    expect(bound).not.toContain('0.0.0.0');
  });
});

it('--network puts the container into a network of the engine', async () => {
  await using home = await newHome();
  await engine.cli('network', 'create', 'sally-test-net');
  try {
    await withServer(home, ['--network', 'sally-test-net'], async () => {
      expect(Object.keys((await inspected()).NetworkSettings.Networks)).toEqual(['sally-test-net']);
    });
    const missing = await home.sally(['run', SERVER_IMAGE, '--network', 'sally-test-nowhere']);
    expect(missing.code).not.toBe(0);
    expect(await engine.containers()).toEqual([]);
  } finally {
    await engine.cli('network', 'rm', 'sally-test-net');
  }
});

it('--ignore-globally false shows what the global ignore file hides, and --print-resolved-overlays says what is hidden', async () => {
  await using home = await newHome();
  const data = join(home.folder, 'data');
  await mkdir(data);
  await writeFile(join(data, 'key.pem'), 'private');
  await mkdir(join(home.folder, 'home/config'), { recursive: true });
  await writeFile(join(home.folder, 'home/config/sallyignore'), '*.pem\n');
  const mount = ['-v', `${data}:/data:ro`];
  await withServer(home, mount, async (call) => {
    expect(await call('read', { path: '/data/key.pem' })).not.toContain('private');
  });
  await withServer(home, [...mount, '--ignore-globally', 'false'], async (call) => {
    expect(await call('read', { path: '/data/key.pem' })).toBe('private');
  });
  const told = await home.sally(['run', SERVER_IMAGE, '--name', 'box', ...mount, '--print-resolved-overlays']);
  expect(told).toMatchObject({ code: 0, stderr: expect.stringContaining('hidden from box: /data/key.pem') });
});

it('--image-verification enabled does not run what nobody signed, disabled does', async () => {
  await using home = await newHome();
  const strict = await home.sally(['run', SERVER_IMAGE, '--name', 'box', '--image-verification', 'enabled']);
  expect(strict.code).not.toBe(0);
  expect(await home.json(['list', '--all'])).toEqual([]);
  await withServer(home, ['--image-verification', 'disabled'], async (call) => {
    expect(await call('echo', { text: 'x' })).toBe('x');
    expect(JSON.parse(await home.ok(['export', 'box']))).toMatchObject({ image_verification: 'disabled' });
  });
});

it('--runtime-image, --runtime-add-package and --ca-cert end up in the image', async () => {
  await using home = await newHome();
  const { cert } = await makeCertificate();
  const bundle = join(home.folder, 'bundle.pem');
  await writeFile(bundle, `${await readFile(CERTIFICATES, 'utf8')}\n${cert}`);
  const flags = ['--runtime-image', BASE_IMAGE, '--runtime-add-package', 'tini', '--ca-cert', bundle];
  const server = 'npx://@modelcontextprotocol/server-memory@2026.8.31';
  const { url } = await home.json<{ url: string }>(['run', server, '--name', 'memory', ...flags]);
  {
    await using session = await connectClient(url);
    expect((await session.client.listTools()).tools.length).toBeGreaterThan(0);
  }
  const [container = ''] = await engine.containers();
  expect(await engine.cli('exec', container, 'tini', '--version')).toContain('tini version');
  expect(await engine.cli('exec', container, 'sh', '-c', 'cat "$NODE_EXTRA_CA_CERTS"')).toContain(
    cert.trim().split('\n')[1],
  );
  expect(await engine.cli('exec', container, 'cat', '/etc/debian_version')).toMatch(/^12/); // the base of ours
});
