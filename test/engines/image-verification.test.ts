import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestEngine } from '../support/engine.ts';
import { ensureGoServerImage, GO_SERVER_IMAGE } from '../support/go-image.ts';
import { type ImageRegistry, REGISTRY_LOGIN, startImageRegistry } from '../support/image-registry.ts';
import { connectClient } from '../support/sally.ts';
import { sharedEngine } from '../support/shared-engines.ts';
import { createSigstore, type Signer } from '../support/sigstore.ts';
import { type WorkloadHome, workloadHome } from '../support/workloads.ts';

// Engines take their time, and the base image is made when it is not there yet.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 600_000 });

const sigstore = createSigstore();
const SIGNER: Signer = {
  subject: 'https://github.com/acme/notes/.github/workflows/release.yml@refs/heads/main',
  issuer: 'https://token.actions.githubusercontent.com',
  repositoryUri: 'https://github.com/acme/notes',
};
const PROVENANCE = {
  repository_uri: 'https://github.com/acme/notes',
  signer_identity: '/.github/workflows/release.yml',
  cert_issuer: SIGNER.issuer,
};

let engine: TestEngine;
let home: WorkloadHome;
beforeAll(async () => {
  engine = await sharedEngine('docker');
  await ensureGoServerImage(engine);
});
beforeEach(async () => {
  home = await workloadHome([]);
});
afterEach(async () => {
  await home.sally(['rm', '--all'], { env: engine.env });
  await home[Symbol.asyncDispose]();
  expect(await engine.containers()).toEqual([]);
});

/** The image of the server with a mark that it says, so that it can be told from others. */
async function variant(mark: string): Promise<string> {
  const image = `sally-test/variant:${mark}`;
  const file = join(home.folder, 'Dockerfile');
  await writeFile(file, `FROM ${GO_SERVER_IMAGE}\nCMD ["${mark}"]\n`);
  await engine.cli('build', '--quiet', '-t', image, '-f', file, home.folder);
  return image;
}

async function sally(args: readonly string[], env: Record<string, string> = {}) {
  return await home.sally(args, { env: { ...engine.env, ...env } });
}

/** Runs a server in the background, and gives what it said on the way. */
async function run(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stderr } = await sally(['run', ...args], env);
  if (code !== 0) throw new Error(stderr);
  return stderr;
}

/** Which variant a workload runs. */
async function markOf(name: string): Promise<string> {
  const { stdout } = await sally(['status', name, '--format', 'json']);
  const session = await connectClient((JSON.parse(stdout) as { url: string }).url);
  await using _ = session;
  const { content } = await session.client.callTool({ name: 'args' });
  return (content[0] as { text: string }).text;
}

async function digestKept(name: string): Promise<string | undefined> {
  const { stdout } = await sally(['export', name]);
  return (JSON.parse(stdout) as { image_digest?: string }).image_digest;
}

describe('images of a registry', () => {
  let registry: ImageRegistry;
  beforeAll(async () => {
    registry = await startImageRegistry();
  });
  afterAll(() => registry?.[Symbol.asyncDispose]());

  it('are fetched by tag, and their digest is what runs from then on, wherever the tag goes', async () => {
    const [one, two] = [await variant('one'), await variant('two')];
    const digest = await registry.push(engine, one, 'acme/moving:1');
    const said = await run([`${registry.host}/acme/moving:1`, '--name', 'moving']);
    expect(said).toContain(`fetching ${registry.host}/acme/moving:1`);
    expect(said).toContain(`fetched ${registry.host}/acme/moving:1`);
    expect(said.match(/is not verified/g)).toHaveLength(1);
    expect(await digestKept('moving')).toBe(digest);

    const other = await registry.push(engine, two, 'acme/moving:1');
    await engine.cli('pull', '--quiet', `${registry.host}/acme/moving:1`);
    await home.ok(['stop', 'moving'], { env: engine.env });
    await home.ok(['start', 'moving'], { env: engine.env });
    expect(await markOf('moving')).toBe('one');

    await home.ok(['update', 'moving', '-e', 'X=1'], { env: engine.env });
    expect(await markOf('moving')).toBe('two');
    expect(await digestKept('moving')).toBe(other);
  });

  it('are fetched by digest', async () => {
    const digest = await registry.push(engine, await variant('pinned'), 'acme/pinned:1');
    await registry.push(engine, await variant('other'), 'acme/pinned:1');
    await run([`${registry.host}/acme/pinned@${digest}`, '--name', 'pinned']);
    expect(await markOf('pinned')).toBe('pinned');
    expect(await digestKept('pinned')).toBe(digest);
  });

  it('say what is wrong when they are not there, and when the registry does not answer', async () => {
    const gone = await sally(['run', `${registry.host}/acme/nothing:1`]);
    expect(gone).toMatchObject({ code: 5, stderr: expect.stringContaining('check its name and tag') });
    await registry.push(engine, await variant('down'), 'acme/down:1');
    await registry.stop();
    try {
      const down = await sally(['run', `${registry.host}/acme/down:1`]);
      expect(down).toMatchObject({ code: 5, stderr: expect.stringContaining('the registry cannot be reached') });
    } finally {
      await registry.start();
    }
  });

  describe('whose entry says who signed', () => {
    let env: Record<string, string>;
    beforeEach(async () => {
      env = { SALLYPORT_TRUSTED_ROOT: join(home.folder, 'root.json') };
      await writeFile(join(home.folder, 'root.json'), sigstore.trustedRoot);
    });

    /** Makes `sally run notes` mean this image. */
    async function enter(image: string, provenance: object | undefined = PROVENANCE): Promise<void> {
      const notes = { description: 'Notes', image, transport: 'stdio', ...(provenance ? { provenance } : {}) };
      await writeFile(join(home.folder, 'servers.json'), JSON.stringify({ servers: { notes } }));
      await home.ok(['config', 'set-registry', 'servers.json']);
    }

    it('run when it is so, by the digest that was verified', async () => {
      const digest = await registry.push(engine, await variant('signed'), 'acme/signed:1');
      await registry.sign('acme/signed', digest, [sigstore.cosign(digest, SIGNER)]);
      await enter(`${registry.host}/acme/signed:1`);
      const said = await run(['notes', '--image-verification', 'enabled'], env);
      expect(said).toContain(`is signed by ${SIGNER.subject}`);
      expect(said).toContain(`fetching ${registry.host}/acme/signed@${digest}`);
      expect(await markOf('notes')).toBe('signed');
      expect(await digestKept('notes')).toBe(digest);
      // It starts again while its registry is down, and its name is known to people.
      await registry.stop();
      await home.ok(['restart', 'notes'], { env: engine.env });
      await registry.start();
      expect(await engine.cli('images', '--format', '{{.Repository}}:{{.Tag}}')).toContain(
        `${registry.host}/acme/signed:1`,
      );
      // What is here already is held against the same signatures.
      expect(await sally(['update', 'notes', '-e', 'X=1'], env)).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('is signed by'),
      });
    });

    it('run by a bundle that refers to them', async () => {
      const digest = await registry.push(engine, await variant('attested'), 'acme/attested:1');
      await registry.attach('acme/attested', digest, sigstore.attest(digest, SIGNER));
      await enter(`${registry.host}/acme/attested:1`);
      expect(await run(['notes', '--image-verification', 'enabled'], env)).toContain('is signed by');
    });

    it('are neither run nor fetched when it is not so', async () => {
      const digest = await registry.push(engine, await variant('forged'), 'acme/forged:1');
      const [path, image] = ['acme/forged', `${registry.host}/acme/forged:1`];
      await enter(image);
      const enabled = ['run', 'notes', '--image-verification', 'enabled'];
      const refused = (words: string) => ({ code: 5, stderr: expect.stringContaining(words) as string });
      expect(await sally(enabled, env)).toMatchObject(refused('it is not signed'));
      await registry.sign(path, digest, [sigstore.cosign(`sha256:${'0'.repeat(64)}`, SIGNER)]);
      expect(await sally(enabled, env)).toMatchObject(refused('of another image'));
      await registry.sign(path, digest, [
        sigstore.cosign(digest, { ...SIGNER, repositoryUri: 'https://github.com/x/y' }),
      ]);
      expect(await sally(enabled, env)).toMatchObject(refused('workload.image_unverified'));
      await registry.sign(path, digest, [createSigstore().cosign(digest, SIGNER)]);
      expect(await sally(enabled, env)).toMatchObject(refused('none of its signatures is the right one'));
      expect(await engine.cli('images', '--digests')).not.toContain(`${registry.host}/acme/forged`);

      const said = await run(['notes', '--image-verification', 'warn'], env);
      expect(said.match(/warning: .* is not verified/g)).toHaveLength(1);
      await home.ok(['rm', 'notes'], { env: engine.env });
      // Now it is here, and that changes nothing.
      expect(await sally(enabled, env)).toMatchObject(refused('none of its signatures is the right one'));
      expect(await run(['notes', '--image-verification', 'disabled'], env)).not.toContain('verified');
    });

    it('are refused when they were made here, or when the entry names nobody', async () => {
      await engine.cli('tag', await variant('local'), `${registry.host}/acme/local:1`);
      await enter(`${registry.host}/acme/local:1`);
      const enabled = ['run', 'notes', '--image-verification', 'enabled'];
      expect(await sally(enabled, env)).toMatchObject({ code: 5, stderr: expect.stringContaining('made here') });
      const said = await run(['notes', '--name', 'warned', '--image-verification', 'warn'], env);
      expect(said.match(/is not verified/g)).toHaveLength(1);
      expect(await digestKept('warned')).toBeUndefined();
      await enter(`${registry.host}/acme/local:1`, { cert_issuer: SIGNER.issuer });
      expect(await sally(enabled, env)).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('does not say who must have signed it'),
      });
    });
  });
});

describe('images of a private registry', () => {
  it('are verified and fetched with the login of docker, which nothing shows', async () => {
    await using registry = await startImageRegistry({ login: true });
    const digest = await registry.push(engine, await variant('private'), 'acme/private:1');
    await registry.sign('acme/private', digest, [sigstore.cosign(digest, SIGNER)]);
    const image = `${registry.host}/acme/private:1`;
    const notes = { description: 'Notes', image, transport: 'stdio', provenance: PROVENANCE };
    await writeFile(join(home.folder, 'servers.json'), JSON.stringify({ servers: { notes } }));
    await writeFile(join(home.folder, 'root.json'), sigstore.trustedRoot);
    await home.ok(['config', 'set-registry', 'servers.json']);
    const env = { SALLYPORT_TRUSTED_ROOT: join(home.folder, 'root.json'), HOME: home.folder };
    const enabled = ['notes', '--image-verification', 'enabled', '--debug'];
    expect(await sally(['run', ...enabled], env)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('docker login'),
    });
    expect(await sally(['run', image], env)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('docker login'),
    });

    const said = await run(enabled, { ...env, DOCKER_CONFIG: registry.loginFolder });
    expect(said).toContain('is signed by');
    expect(await markOf('notes')).toBe('private');
    const kept = await sally(['export', 'notes']);
    const login = await readFile(join(registry.loginFolder, 'config.json'), 'utf8');
    const [, encoded = ''] = /"auth":"([^"]+)"/.exec(login) ?? [];
    for (const secret of [REGISTRY_LOGIN.password, encoded]) {
      expect(`${said}${kept.stdout}${(await sally(['logs', '--supervisor', 'notes'])).stdout}`).not.toContain(secret);
    }
  });
});
