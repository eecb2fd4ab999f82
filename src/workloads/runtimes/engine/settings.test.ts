import { describe, expect, it } from 'vitest';
import { Secret } from '../../../base/index.ts';
import type { ContainerLaunch } from '../../launch.ts';
import type { Engine } from './connect.ts';
import { relaySettings, serverSettings } from './settings.ts';

const engine = { limits: { memory: true, pids: true } } as Engine;
const env = { HOME: '/home/x' };
const launch = (said: Partial<ContainerLaunch> = {}): ContainerLaunch => ({
  ...{ kind: 'container', name: 'Notes!', engine: { socket: '/x' }, image: 'sha256:1', args: [], env: {}, labels: {} },
  ...{
    mounts: [],
    network: { kind: 'bridge', publish: [] },
    privileged: false,
    memoryBytes: 1_000,
    pids: 5,
    root: 'auto',
  },
  ...said,
});
const settings = (said: Partial<ContainerLaunch> = {}, relay?: string) =>
  serverSettings(launch(said), { readOnly: true, relay }, { engine, env });

describe('the container of a server', () => {
  it('has nothing that it does not need', () => {
    expect(settings()).toMatchObject({
      Tty: false,
      HostConfig: {
        ...{ CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'], ReadonlyRootfs: true, Privileged: false },
        ...{
          Memory: 1_000,
          MemorySwap: 1_000,
          PidsLimit: 5,
          RestartPolicy: { Name: 'no' },
          LogConfig: { Type: 'none' },
        },
      },
    });
  });

  it('cannot pretend with labels of its own to be somebody else', () => {
    const { Labels } = settings({ labels: { 'dev.sallyport/workload': 'other', team: 'blue' } });
    expect(Labels).toMatchObject({ 'dev.sallyport/workload': 'Notes!', 'dev.sallyport/role': 'server', team: 'blue' });
  });

  it('gets a new name at each start, of letters that engines take', () => {
    expect(settings().name).toMatch(/^sallyport-notes--server-[0-9a-f]{8}$/);
    expect(settings().name).not.toBe(settings().name);
  });

  it('publishes ports on loopback only, and at the relay when there is one', () => {
    const network = { kind: 'bridge', publish: [{ host: 8080, container: 80 }] } as const;
    expect(settings({ network }).HostConfig?.PortBindings).toEqual({
      '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '8080' }],
    });
    expect(settings({ network }, 'abc').HostConfig).toMatchObject({ NetworkMode: 'container:abc' });
    expect(settings({ network }, 'abc').HostConfig).not.toHaveProperty('PortBindings');
  });

  it('in isolation has no network, and is told where the proxy is', () => {
    const network = { kind: 'isolated', rules: { all: true, hosts: [], ports: [], gateway: false } } as const;
    const relay = relaySettings(launch({ network, relayImage: 'node' }), { proxyPort: 3128 }, { engine, env });
    expect(relay).toMatchObject({
      User: '65534:65534',
      HostConfig: { NetworkMode: 'none', CapDrop: ['ALL'], ReadonlyRootfs: true },
    });
    expect(settings({ network }, 'abc').Env).toContain('HTTPS_PROXY=http://127.0.0.1:3128');
    expect(settings({ network, listens: { port: 3128, socket: '' } }, 'abc').Env).toContain(
      'HTTPS_PROXY=http://127.0.0.1:3129',
    );
  });

  it('gets secrets in its environment and nowhere else', () => {
    const made = settings({ env: { KEY: new Secret('hunter2') } });
    expect(made.Env).toContain('KEY=hunter2');
    expect(JSON.stringify({ ...made, Env: [] })).not.toContain('hunter2');
  });
});
