import { lstatSync, readlinkSync } from 'node:fs';
import type { Confinement } from '../../../launch.ts';
import type { Mount } from '../../../permissions/mounts.ts';

/** Who the server is inside, and where it is at home. Neither exists outside. */
export const INSIDE = { uid: '1000', user: 'server', home: '/home/server' } as const;

/** Namespaces of its own for everything but the network, no rights, no way to new namespaces, and no life without us. */
export const WALLS: readonly string[] = [
  ...['--unshare-user', '--disable-userns', '--uid', INSIDE.uid, '--gid', INSIDE.uid],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--hostname', INSIDE.user],
  ...['--cap-drop', 'ALL', '--die-with-parent'],
];

/** Programs and libraries. On most systems all but the first are links into it. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** What libraries read at their start, none of it about this user or this network. */
const SETTINGS = [
  ...['/etc/ssl', '/etc/pki', '/etc/ca-certificates', '/etc/crypto-policies', '/etc/alternatives', '/etc/localtime'],
  ...['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/mime.types', '/etc/timezone'],
];
const MEBIBYTE = 1024 ** 2;
/** What may be written, in memory and gone with the server. */
const WRITABLE = { '/tmp': 256, '/dev/shm': 64, [INSIDE.home]: 256 };

/** Files that programs look for, with nothing of the real ones in them. */
const FILES: Readonly<Record<string, string>> = {
  '/etc/hosts': '127.0.0.1 localhost\n::1 localhost\n',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  '/etc/passwd': `${INSIDE.user}:x:${INSIDE.uid}:${INSIDE.uid}::${INSIDE.home}:/bin/sh\n`,
  '/etc/group': `${INSIDE.user}:x:${INSIDE.uid}:\n`,
};

export interface Wrapping {
  /** How the walls are built, but for the variables inside. */
  readonly args: readonly string[];
  /** Texts that bubblewrap reads, one from each descriptor from `firstFd` on. */
  readonly files: readonly string[];
}

/** The words by which bubblewrap builds the walls. Later words lie over earlier ones. */
export function wrapping({ needs, mounts, network }: Confinement, firstFd: number): Wrapping {
  const isOpen = network.kind === 'open';
  const files = Object.entries(FILES).filter(([place]) => !(isOpen && place === '/etc/hosts'));
  const args = [
    ...WALLS,
    ...(isOpen ? [] : ['--unshare-net']),
    ...SYSTEM.flatMap(systemFolder),
    ...SETTINGS.flatMap((path) => ['--ro-bind-try', path, path]),
    ...(isOpen ? ['/etc/hosts', '/etc/resolv.conf'] : []).flatMap((path) => ['--ro-bind-try', path, path]),
    ...files.flatMap(([place], index) => ['--perms', '0444', '--ro-bind-data', String(firstFd + index), place]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...Object.entries(WRITABLE).flatMap(([place, size]) => [
      ...['--perms', place === INSIDE.home ? '0700' : '1777'],
      ...['--size', String(size * MEBIBYTE), '--tmpfs', place],
    ]),
    ...needs.flatMap((path) => ['--ro-bind', path, path]),
    ...inOrder(mounts).flatMap(cover),
    ...mounts.flatMap((mount) => (isHiddenFolder(mount) ? ['--remount-ro', mount.target] : [])),
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', INSIDE.home],
  ];
  return { args, files: files.map(([, text]) => text) };
}

function systemFolder(path: string): readonly string[] {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (!there) return [];
  return there.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

/** What lies deeper comes later, or it would be covered. Of two in one place the one that hides comes last. */
function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  const depth = ({ target }: Mount): number => target.split('/').length;
  const hides = ({ kind }: Mount): number => (kind === 'hidden' ? 1 : 0);
  return mounts.toSorted((one, two) => depth(one) - depth(two) || hides(one) - hides(two));
}

function cover(mount: Mount): readonly string[] {
  if (mount.kind === 'bind') return [mount.readOnly ? '--ro-bind' : '--bind', mount.source, mount.target];
  // The device itself: behind a plain bind it could not be opened, and programs take that for a fault.
  if (mount.what === 'file') return ['--dev-bind', '/dev/null', mount.target];
  return ['--perms', '0555', '--size', '4096', '--tmpfs', mount.target];
}

function isHiddenFolder(mount: Mount): boolean {
  return mount.kind === 'hidden' && mount.what === 'folder';
}
