import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../base/index.ts';
import type { Confinement, ProcessLaunch } from '../../../launch.ts';
import { serverEnvironment } from '../environment.ts';
import { startOf } from './start.ts';

const RULES = { all: false, hosts: ['api.acme.dev'], ports: [443], gateway: false };
const OURS = {
  PATH: '/usr/bin',
  HOME: '/home/me',
  LANG: 'C.UTF-8',
  XDG_DATA_HOME: '/home/me/data',
  HTTPS_PROXY: 'http://proxy.example:3128',
};

function started(more: Partial<Confinement> = {}, env: ProcessLaunch['env'] = {}) {
  const confinement: Confinement = {
    bwrap: '/usr/bin/bwrap',
    needs: [],
    mounts: [],
    network: { kind: 'none' },
    ...more,
  };
  const launch = { name: 'notes', command: '/opt/notes', args: ['--fast'], env, cwd: '/home/me', confinement };
  const start = startOf(launch, serverEnvironment(OURS, launch, 'mark'));
  const [words = ''] = start.files;
  return { ...start, words: words.split('\0').slice(0, -1) };
}

/** The variables that bubblewrap sets inside. */
function variables(words: readonly string[]): Record<string, string> {
  const pairs = words.flatMap((word, index) =>
    word === '--setenv' ? [[words[index + 1] ?? '', words[index + 2] ?? ''] as const] : [],
  );
  return Object.fromEntries(pairs);
}

describe('a process without walls', () => {
  it('is started as it is', () => {
    const launch = { name: 'notes', command: '/opt/notes', args: ['--fast'], env: {}, cwd: '/home/me' };
    expect(startOf(launch, { A: 'b' })).toEqual({
      ...{ name: 'notes', command: '/opt/notes', args: ['--fast'], cwd: '/home/me', env: { A: 'b' } },
      ...{ isWrapped: false, files: [], relayFd: undefined },
    });
  });
});

describe('a process behind walls', () => {
  it('has namespaces of its own, no rights, and dies with us', () => {
    const { words, command, args, cwd } = started();
    for (const word of ['--unshare-net', '--unshare-pid', '--unshare-ipc', '--disable-userns', '--die-with-parent'])
      expect(words).toContain(word);
    expect(words.join(' ')).toContain('--cap-drop ALL');
    expect(words.join(' ')).toMatch(/--remount-ro \/ --chdir \/home\/server/);
    expect({ command, args, cwd }).toEqual({
      command: '/usr/bin/bwrap',
      args: ['--args', '3', '--', '/opt/notes', '--fast'],
      cwd: '/',
    });
  });

  it('gets its variables inside; bubblewrap itself, which is outside, gets none of them', () => {
    const { words, env, args } = started({}, { TOKEN: new Secret('hunter2'), LD_PRELOAD: '/data/evil.so' });
    expect(env).toEqual({ SALLYPORT_GUARDED: 'mark' });
    expect(args.join(' ')).not.toContain('hunter2');
    expect(words).toContain('--clearenv');
    expect(variables(words)).toEqual({
      ...{
        TOKEN: 'hunter2',
        LD_PRELOAD: '/data/evil.so',
        SALLYPORT_GUARDED: 'mark',
        PATH: '/usr/bin',
        LANG: 'C.UTF-8',
      },
      ...{ HOME: '/home/server', USER: 'server', LOGNAME: 'server', TMPDIR: '/tmp' },
    });
  });

  it('cannot turn a value into words for bubblewrap', () => {
    expect(() => started({}, { A: 'x\0--bind\0/\0/host' })).toThrow('holds a NUL');
  });

  it('has the relay as its parent where there are ways to carry, with a pipe of its own', () => {
    const isolated = started({ network: { kind: 'isolated', rules: RULES } });
    expect(isolated.relayFd).toBe(3 + isolated.files.length);
    expect(isolated.args.slice(0, 4)).toEqual(['--args', '3', '--', process.execPath]);
    expect(isolated.args.slice(-3)).toEqual(['--', '/opt/notes', '--fast']);
    expect(variables(isolated.words)).toMatchObject({ HTTPS_PROXY: 'http://127.0.0.1:3128', NODE_USE_ENV_PROXY: '1' });
    expect(started({ listens: { port: 8080, socket: '/s' } }).relayFd).toBeDefined();
    expect(started().relayFd).toBeUndefined();
  });

  it('keeps out of the way of a server that listens where the proxy would', () => {
    const { words } = started({ network: { kind: 'isolated', rules: RULES }, listens: { port: 3128, socket: '/s' } });
    expect(variables(words)).toMatchObject({ HTTP_PROXY: 'http://127.0.0.1:3129' });
  });

  it('keeps the network and the proxy of this machine where only files are confined', () => {
    const { words } = started({ network: { kind: 'open' } });
    expect(words).not.toContain('--unshare-net');
    expect(variables(words)).toMatchObject({ HTTPS_PROXY: OURS.HTTPS_PROXY });
  });

  it('sees deeper mounts over others, and what is hidden over everything', () => {
    const { words } = started({
      mounts: [
        { kind: 'bind', source: '/b', target: '/data/deep/inner', readOnly: false },
        { kind: 'hidden', target: '/data/secrets', what: 'folder' },
        { kind: 'hidden', target: '/data/key.pem', what: 'file' },
        { kind: 'bind', source: '/c', target: '/data/secrets', readOnly: false },
        { kind: 'bind', source: '/a', target: '/data', readOnly: true },
      ],
    });
    const text = words.join(' ');
    const places = [
      '--ro-bind /a /data',
      '--bind /c /data/secrets',
      '--tmpfs /data/secrets',
      '--bind /b /data/deep/inner',
    ];
    const order = places.map((place) => text.indexOf(place));
    expect(order).toEqual([...order].sort((one, two) => one - two));
    expect(order).not.toContain(-1);
    expect(text).toContain('--dev-bind /dev/null /data/key.pem');
    expect(text.indexOf('--remount-ro /data/secrets')).toBeGreaterThan(Math.max(...order));
  });
});
