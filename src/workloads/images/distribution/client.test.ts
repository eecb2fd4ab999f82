import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startOciServer } from '../../../../test/support/oci-server.ts';
import { type Fetched, MOST_BYTES, openRepository } from './client.ts';
import { parseImageName } from './image-name.ts';

const LOGIN = { username: 'ann', password: 'hunter2' };
const BASIC = `Basic ${Buffer.from('ann:hunter2').toString('base64')}`;

describe('a repository', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'sally-repository-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  /** Leaves a login as `docker login` does. */
  async function logIn(host: string): Promise<void> {
    await writeFile(join(home, 'config.json'), JSON.stringify({ auths: { [host]: { auth: BASIC.slice(6) } } }));
  }
  const open = (host: string) =>
    openRepository(parseImageName(`${host}/acme/notes`), { HOME: home, DOCKER_CONFIG: home });
  const text = (fetched: Fetched | undefined): string | undefined => fetched?.bytes.toString();

  it('gives manifests by tag and by digest, with the digest that they really have', async () => {
    await using server = await startOciServer();
    const { digest } = server.manifest({ layers: [] }, '1.4');
    await using repository = open(server.host);
    expect(await repository.manifest('1.4')).toMatchObject({ digest });
    expect(await repository.manifest(digest)).toMatchObject({ digest });
    expect(await repository.manifest('2.0')).toBeUndefined();
  });

  it('refuses bytes that are not what was asked for', async () => {
    await using server = await startOciServer();
    const manifest = server.manifest({ layers: [] });
    const blob = server.blob(Buffer.from('good'));
    server.manifests.set(manifest.digest, Buffer.from('{"layers":[1]}'));
    server.blobs.set(blob.digest, Buffer.from('evil'));
    await using repository = open(server.host);
    await expect(repository.manifest(manifest.digest)).rejects.toThrow('something else than was asked for');
    await expect(repository.blob({ ...blob, annotations: {} })).rejects.toThrow('something else than was asked for');
  });

  it('refuses what is too large, whether it says so or not', async () => {
    await using server = await startOciServer();
    const blob = server.blob(Buffer.alloc(MOST_BYTES + 1));
    await using repository = open(server.host);
    await expect(repository.blob({ ...blob, annotations: {} })).rejects.toThrow('too large');
    await expect(repository.blob({ ...blob, size: 1, annotations: {} })).rejects.toThrow('answered more than');
  });

  it('fetches a token with the login of docker, and shows only the token to the registry', async () => {
    await using server = await startOciServer({ login: LOGIN });
    server.manifest({ layers: [] }, '1');
    await logIn(server.host);
    await using repository = open(server.host);
    expect(text(await repository.manifest('1'))).toBe('{"layers":[]}');
    const [first, token, second] = server.seen;
    expect(first).toBe('GET /v2/acme/notes/manifests/1 -');
    expect(token).toBe(`GET /token?service=tests&scope=repository%3Aacme%2Fnotes%3Apull ${BASIC}`);
    expect(second).toContain('Bearer ');
  });

  it('says how to get in when there is no login, or a wrong one', async () => {
    await using server = await startOciServer({ login: { ...LOGIN, password: 'another' } });
    await using repository = open(server.host);
    await expect(repository.manifest('1')).rejects.toMatchObject({ hint: expect.stringContaining('docker login') });
    await logIn(server.host);
    await using again = open(server.host);
    const error = await again.manifest('1').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'workload.image_missing' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/hunter2|YW5uOmh1bnRlcjI/);
  });

  it('takes a login to no place that a registry makes up', async () => {
    await using other = await startOciServer();
    await using server = await startOciServer({ login: LOGIN, realm: `http://${other.host}/token` });
    await logIn(server.host);
    await using repository = open(server.host);
    await expect(repository.manifest('1')).rejects.toThrow('a place that is not safe');
    expect(other.seen).toEqual([]);
  });

  it('follows to where blobs lie on the same registry, and not to plain http elsewhere', async () => {
    await using server = await startOciServer({ blobsAt: 'http://HERE/elsewhere' });
    const blob = { ...server.blob(Buffer.from('far')), annotations: {} };
    await using repository = open(server.host);
    expect(String(await repository.blob(blob))).toBe('far');
    await using other = await startOciServer();
    await using bad = await startOciServer({ blobsAt: `http://${other.host}/elsewhere` });
    bad.blob(Buffer.from('far'));
    await using elsewhere = open(bad.host);
    await expect(elsewhere.blob(blob)).rejects.toThrow('a place that is not safe');
    await using loop = await startOciServer({ blobsAt: 'http://HERE/v2/acme/notes/blobs' });
    await using round = open(loop.host);
    await expect(round.blob(blob)).rejects.toThrow('a place that is not safe');
    expect(other.seen).toEqual([]);
  });
});
