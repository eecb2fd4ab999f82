import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from './sally.ts';

/** Programs that tests start besides our own, and the Debian package that brings each. */
const NEEDED: readonly { readonly program: string; readonly apt: string; readonly probe: readonly string[] }[] = [
  { program: 'go', apt: 'golang-go', probe: ['version'] },
  { program: 'python3', apt: 'python3', probe: ['-c', 'import venv, ensurepip'] },
  { program: 'redis-server', apt: 'redis-server', probe: ['--version'] },
  { program: 'redis-sentinel', apt: 'redis-sentinel', probe: ['--version'] },
  { program: 'openssl', apt: 'openssl', probe: ['version'] },
  { program: 'bwrap', apt: 'bubblewrap', probe: ['--version'] },
];

/** uv is not among Debian's packages; it comes from PyPI into a folder of its own. */
const UV_HOME = join(ROOT, 'node_modules/.cache/sallyport-uv');

/** PATH with everything the tests need on it. */
export const TEST_PATH = [process.env.PATH, join(UV_HOME, 'bin')].join(delimiter);

/** Installs what is missing where we may, and else fails with the names. A missing program never skips a test. */
export function ensurePrograms(): void {
  const missing = NEEDED.filter(({ program, probe }) => spawnSync(program, probe).status !== 0);
  if (missing.length > 0)
    installWithApt(missing.flatMap(({ program, apt }) => (program === 'python3' ? [apt, 'python3-venv'] : [apt])));
  if (spawnSync('uvx', ['--version'], { env: { ...process.env, PATH: TEST_PATH } }).status !== 0) installUv();
}

/** A name that cannot be looked up for a moment is no reason to fail. */
const RETRIES = ['-o', 'Acquire::Retries=3'];

/** Debian's packages, where we are root; elsewhere the error names them. */
export function installWithApt(packages: readonly string[]): void {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(
      `the tests need programs that are not here; install the packages ${packages.join(', ')} and run them again`,
    );
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', [...RETRIES, 'update', '-qq'], { env, stdio: 'inherit' });
  execFileSync('apt-get', [...RETRIES, 'install', '-y', '-qq', ...packages], { env, stdio: 'inherit' });
}

function installUv(): void {
  execFileSync('python3', ['-m', 'venv', '--clear', UV_HOME], { stdio: 'inherit' });
  execFileSync(join(UV_HOME, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', 'uv'], {
    stdio: 'inherit',
  });
}
