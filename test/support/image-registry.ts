import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestEngine } from './engine.ts';
import { eventually, freePort } from './processes.ts';
import { installWithApt } from './programs.ts';
import { BUNDLE_TYPE, type CosignLayer } from './sigstore.ts';

/** A real registry for images, Debian's, on a free loopback port. Engines talk to it without TLS because it is on loopback. */
export interface ImageRegistry extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** Lets the engine push one of its images under another name; gives the digest. `as` is `PATH:TAG`. */
  push(engine: TestEngine, image: string, as: string): Promise<string>;
  /** Puts signatures where cosign puts them. */
  sign(path: string, digest: string, layers: readonly CosignLayer[]): Promise<void>;
  /** Lets a bundle refer to an image, by the tag that stands in for the referrers API: this registry does not have it. */
  attach(path: string, digest: string, bundle: unknown): Promise<void>;
  /** `kill -9`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** A folder for `DOCKER_CONFIG` with the login in it, when there is one. */
  readonly loginFolder: string;
}

export const REGISTRY_LOGIN = { username: 'ann', password: 'hunter2-hunter2' };
/** bcrypt of that password, as the registry wants it. */
const HTPASSWD = 'ann:$2b$04$Cc/Qx6CysdJQy/Xm.PY1CO5q.vZlc7cLNv7tzPtyHo0jDstUXmNqm\n';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const INDEX = 'application/vnd.oci.image.index.v1+json';
const SIMPLE_SIGNING = 'application/vnd.dev.cosign.simplesigning.v1+json';

export async function startImageRegistry({ login = false } = {}): Promise<ImageRegistry> {
  if (spawnSync('docker-registry', ['--version']).error) installWithApt(['docker-registry']);
  const folder = await mkdtemp(join(tmpdir(), 'sally-images-'));
  const host = `127.0.0.1:${await freePort()}`;
  const auth = `Basic ${Buffer.from(`${REGISTRY_LOGIN.username}:${REGISTRY_LOGIN.password}`).toString('base64')}`;
  await writeFile(join(folder, 'htpasswd'), HTPASSWD);
  await writeFile(
    join(folder, 'config.yml'),
    JSON.stringify({
      version: 0.1,
      log: { level: 'error' },
      storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
      http: { addr: host },
      ...(login ? { auth: { htpasswd: { realm: 'tests', path: join(folder, 'htpasswd') } } } : {}),
    }),
  );
  const loginFolder = join(folder, 'login');
  await mkdir(loginFolder);
  const auths = { [host]: { auth: auth.replace('Basic ', '') } };
  await writeFile(join(loginFolder, 'config.json'), JSON.stringify(login ? { auths } : {}));
  let process: ChildProcess | undefined;

  async function ask(path: string, options: RequestInit = {}): Promise<Response> {
    const headers = { ...(login ? { authorization: auth } : {}), ...(options.headers as Record<string, string>) };
    const response = await fetch(new URL(path, `http://${host}`), { ...options, headers });
    if (!response.ok) throw new Error(`the registry answered ${response.status}: ${await response.text()}`);
    return response;
  }

  async function start(): Promise<void> {
    process = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' });
    const answers = (): Promise<boolean> =>
      ask('/v2/').then(
        () => true,
        () => false,
      );
    await eventually(answers, Boolean, 30_000);
  }

  async function stop(): Promise<void> {
    if (!process || process.exitCode !== null || process.signalCode !== null) return;
    const gone = once(process, 'exit');
    process.kill('SIGKILL');
    await gone;
  }

  async function putBlob(path: string, bytes: Buffer): Promise<{ digest: string; size: number }> {
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const place = (await ask(`/v2/${path}/blobs/uploads/`, { method: 'POST' })).headers.get('location') ?? '';
    const url = new URL(place, `http://${host}`);
    url.searchParams.set('digest', digest);
    const headers = { 'content-type': 'application/octet-stream' };
    await ask(url.href, { method: 'PUT', body: new Uint8Array(bytes), headers });
    return { digest, size: bytes.length };
  }

  async function putManifest(path: string, mediaType: string, content: object, tag?: string) {
    const body = JSON.stringify({ schemaVersion: 2, mediaType, ...content });
    const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`;
    const headers = { 'content-type': mediaType };
    await ask(`/v2/${path}/manifests/${tag ?? digest}`, { method: 'PUT', body, headers });
    return { mediaType, digest, size: body.length };
  }

  await start();
  return {
    host,
    loginFolder,
    start,
    stop,
    async push(engine, image, as) {
      const reference = `${host}/${as}`;
      await engine.cli('tag', image, reference);
      await engine.cli('--config', loginFolder, 'push', '--quiet', reference);
      await engine.cli('rmi', reference);
      const [path, tag] = as.split(':');
      const accept = 'application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json';
      const found = await ask(`/v2/${path}/manifests/${tag}`, { headers: { accept } });
      return `sha256:${createHash('sha256')
        .update(Buffer.from(await found.arrayBuffer()))
        .digest('hex')}`;
    },
    async sign(path, digest, layers) {
      const config = {
        mediaType: 'application/vnd.oci.image.config.v1+json',
        ...(await putBlob(path, Buffer.from('{}'))),
      };
      const signed = [];
      for (const { payload, annotations } of layers)
        signed.push({ mediaType: SIMPLE_SIGNING, ...(await putBlob(path, payload)), annotations });
      await putManifest(path, MANIFEST, { config, layers: signed }, `${digest.replace(':', '-')}.sig`);
    },
    async attach(path, digest, bundle) {
      const config = { mediaType: 'application/vnd.oci.empty.v1+json', ...(await putBlob(path, Buffer.from('{}'))) };
      const layer = { mediaType: BUNDLE_TYPE, ...(await putBlob(path, Buffer.from(JSON.stringify(bundle)))) };
      const subject = { mediaType: MANIFEST, digest, size: 1 };
      const content = { artifactType: BUNDLE_TYPE, config, layers: [layer], subject };
      const manifest = await putManifest(path, MANIFEST, content);
      const manifests = [{ ...manifest, artifactType: BUNDLE_TYPE }];
      await putManifest(path, INDEX, { manifests }, digest.replace(':', '-'));
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
