import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { candidates } from './address.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sally-engine-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function context(name: string, host: string): Promise<void> {
  const folder = join(home, '.docker/contexts/meta', createHash('sha256').update(name).digest('hex'));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'meta.json'), JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }));
}

describe('where an engine is looked for', () => {
  it.each([
    ['unix:///run/x.sock', { socket: '/run/x.sock' }],
    ['tcp://engine:2375', { host: 'engine', port: 2375 }],
    ['tcp://engine', { host: 'engine', port: 2375 }],
  ])('DOCKER_HOST=%s is tried alone', async (DOCKER_HOST, address) => {
    expect(await candidates({ HOME: home, DOCKER_HOST })).toMatchObject([{ address, chosenBy: 'DOCKER_HOST' }]);
  });

  it('takes certificates where TLS is asked for', async () => {
    const env = { HOME: home, DOCKER_HOST: 'tcp://engine', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/certs' };
    expect(await candidates(env)).toMatchObject([{ address: { host: 'engine', port: 2376, certificates: '/certs' } }]);
  });

  it.each(['ssh://engine', 'nonsense', 'unix://'])('refuses DOCKER_HOST=%s with a way out', async (DOCKER_HOST) => {
    await expect(candidates({ HOME: home, DOCKER_HOST })).rejects.toThrow('not supported');
  });

  it('is the context that docker itself would use', async () => {
    await context('far', 'tcp://far:2375');
    await context('colima', 'unix:///colima.sock');
    await writeFile(join(home, '.docker/config.json'), JSON.stringify({ currentContext: 'colima' }));
    expect(await candidates({ HOME: home })).toMatchObject([{ address: { socket: '/colima.sock' } }]);
    expect(await candidates({ HOME: home, DOCKER_CONTEXT: 'far' })).toMatchObject([{ address: { host: 'far' } }]);
    await expect(candidates({ HOME: home, DOCKER_CONTEXT: 'gone' })).rejects.toThrow('"gone" cannot be read');
  });

  it('is every usual place otherwise, Docker first', async () => {
    const found = await candidates({ HOME: home, XDG_RUNTIME_DIR: '/run/user/1' });
    const sockets = found.map(({ address }) => ('socket' in address ? address.socket : ''));
    expect(sockets[0]).toBe('/var/run/docker.sock');
    for (const path of ['.colima/default/docker.sock', '.rd/docker.sock', '.docker/run/docker.sock'])
      expect(sockets).toContain(join(home, path));
    expect(sockets.indexOf('/run/user/1/podman/podman.sock')).toBeGreaterThan(
      sockets.indexOf('/run/user/1/docker.sock'),
    );
  });
});
