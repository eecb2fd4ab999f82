import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Adds what `npm install` left out of the lock file: binaries of other platforms, which a registry mirror may not carry.
 * `npm ci` refuses a lock without them, and people on those platforms need them. Run it after each change of dependencies.
 */
interface Locked {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const file = 'package-lock.json';
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Locked & Record<string, unknown>> };
const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32'];

for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  if (path === '') continue;
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (
      Object.keys(lock.packages).some(
        (known) => known === `node_modules/${name}` || known.endsWith(`/node_modules/${name}`),
      )
    )
      continue;
    const words = name.split(/[/-]/);
    const os = words.filter((word) => SYSTEMS.includes(word));
    const cpu = words.filter((word) => PROCESSORS.includes(word));
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(cpu.length > 0 ? { cpu } : {}),
      ...(dev ? { dev } : {}),
      optional: true,
      ...(os.length > 0 ? { os } : {}),
    };
  }
}
const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify({ ...lock, packages: sorted }, undefined, 2)}\n`);
