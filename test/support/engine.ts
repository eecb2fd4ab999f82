import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { LABEL } from '../../src/workloads/runtimes/engine/labels.ts';
import { eventually, processesNaming, programOf } from './processes.ts';
import { installWithApt } from './programs.ts';
import { ROOT } from './sally.ts';
import { homesOfThisFile } from './workloads.ts';

/**
 * Real container engines. One that answers already (DOCKER_HOST) is used; otherwise Debian's is installed and started with folders of
 * its own. No registry is needed: the one base image is made from Debian's packages and the Node.js that runs the tests.
 */
export interface TestEngine extends AsyncDisposable {
  readonly kind: 'docker' | 'podman';
  /** For commands that should find it. */
  readonly env: Readonly<Record<string, string>>;
  /** What the command of the engine prints. */
  cli(...words: string[]): Promise<string>;
  /** Names of the containers that carry our label, for homes that this test file made: others may use the engine too. */
  containers(): Promise<readonly string[]>;
  /** Ends it, with its data kept. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** A new one with the same data; what still runs is killed. */
  restart(): Promise<void>;
}

export const BASE_IMAGE = 'sally-test/base:1';
export const SERVER_IMAGE = 'sally-test/server:1';

export const IMAGE_CACHE = join(ROOT, 'node_modules/.cache/sallyport-images');
const FIXTURES = join(ROOT, 'test/fixtures/images');
const STARTS_WITHIN = 60_000;

export function ensureEngine(kind: 'docker' | 'podman'): void {
  const missing = [
    ...(kind === 'docker' ? [['dockerd', 'docker.io']] : [['podman', 'podman', 'netavark', 'catatonit', 'runc']]),
    ['ip', 'iproute2'],
    ['iptables', 'iptables'],
    ['mmdebstrap', 'mmdebstrap'],
  ].flatMap(([program = '', ...packages]) => (spawnSync(program, ['--version']).error ? packages : []));
  if (missing.length > 0) installWithApt(missing);
}

/** `own`: one that may be killed, never the one that answers already, and beside which another may run. */
export async function startDocker({ own = false } = {}): Promise<TestEngine> {
  if (process.env.DOCKER_HOST && !own) return await filled(engineAt('docker', process.env.DOCKER_HOST));
  ensureEngine('docker');
  const folder = await mkdtemp(join(tmpdir(), 'sally-docker-'));
  const socket = join(folder, 'docker.sock');
  await writeFile(join(folder, 'daemon.json'), '{}');
  const bridge = own ? makeBridge() : undefined;
  const args = [
    ...['--config-file', join(folder, 'daemon.json'), '--host', `unix://${socket}`],
    ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'pid')],
    // Nothing in it goes outside, and two daemons that start at once take each other's chains away.
    ...(bridge ? ['--bridge', bridge.name, '--iptables=false'] : []),
  ];
  return await startDaemon({ kind: 'docker', folder, socket, program: 'dockerd', args, after: bridge?.remove });
}

export async function startPodman(): Promise<TestEngine> {
  ensureEngine('podman');
  const folder = await mkdtemp(join(tmpdir(), 'sally-podman-'));
  const socket = join(folder, 'podman.sock');
  // Machines in which the tests run may not raise limits, which Podman tries by default.
  const config = join(folder, 'containers.conf');
  await writeFile(config, '[containers]\ndefault_ulimits = ["nofile=8192:8192", "nproc=8192:8192"]\n');
  const own = ['--runtime', 'runc', '--root', join(folder, 'root'), '--runroot', join(folder, 'run')];
  const service = [...own, 'system', 'service', '--time', '0', `unix://${socket}`];
  const env = { CONTAINERS_CONF: config };
  return await startDaemon({ kind: 'podman', folder, socket, program: 'podman', args: service, env });
}

/** What a test may do to the program behind an engine. */
type Daemon = Pick<TestEngine, 'stop' | 'restart'> & AsyncDisposable;

const SOMEBODY_ELSES: Daemon = {
  stop: () => Promise.reject(new Error('this engine belongs to somebody else')),
  restart: () => Promise.reject(new Error('this engine belongs to somebody else')),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/** Two daemons on Docker's own bridge would give the same addresses to their containers. These are for tests (RFC 2544), so nobody's. */
function makeBridge(): { readonly name: string; readonly remove: () => void } {
  const number = randomInt(512);
  const name = `sally-test${number}`;
  execFileSync('ip', ['link', 'add', name, 'type', 'bridge']);
  execFileSync('ip', ['address', 'add', `198.${18 + (number >> 8)}.${number & 255}.1/24`, 'dev', name]);
  return { name, remove: () => void spawnSync('ip', ['link', 'delete', name]) };
}

interface DaemonOrder {
  readonly kind: TestEngine['kind'];
  /** Everything of it lies here. */
  readonly folder: string;
  readonly socket: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** When it is gone. */
  readonly after?: (() => void) | undefined;
}

async function startDaemon({ kind, folder, socket, program, args, env = {}, after }: DaemonOrder): Promise<TestEngine> {
  let daemon: ChildProcess | undefined;
  let said = '';
  const host = `unix://${socket}`;

  async function start(): Promise<void> {
    daemon = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    for (const stream of [daemon.stdout, daemon.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4_000);
      });
    }
    const started = daemon;
    async function answers(): Promise<boolean> {
      if (started.exitCode !== null) throw new Error(`it ended with ${started.exitCode}`);
      return await promisify(execFile)(client(kind), clientArgs(kind, host, ['version'])).then(
        () => true,
        () => false,
      );
    }
    await eventually(answers, Boolean, STARTS_WITHIN).catch((cause: unknown) => {
      throw new Error(`${program} did not start:\n${said}`, { cause });
    });
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const gone = once(daemon, 'exit');
    daemon.kill(signal);
    await gone;
  }

  async function dispose(): Promise<void> {
    await end('SIGTERM');
    // Podman leaves its storage mounted, and an engine that a test killed leaves its helpers as well.
    for (const pid of processesNaming(folder)) endIfThere(pid);
    for (const place of mountsBelow(folder)) spawnSync('umount', ['--lazy', place]);
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 }).catch(() => {});
    after?.();
  }

  try {
    await start();
    async function restart(): Promise<void> {
      await end('SIGKILL');
      await forgetContainerd(folder);
      await start();
    }
    return await filled(engineAt(kind, host, { stop: end, restart, [Symbol.asyncDispose]: dispose }));
  } catch (error) {
    await dispose();
    throw error;
  }
}

/**
 * The containerd that a killed dockerd started is killed with it, and stays a zombie where the first process of the machine does not
 * collect it. A new dockerd that finds its number in the file takes the zombie for alive and waits a minute for its answer.
 */
async function forgetContainerd(folder: string): Promise<void> {
  const own = join(folder, 'exec/containerd');
  for (const pid of processesNaming(own)) if (programOf(pid) === 'containerd') endIfThere(pid);
  await rm(join(own, 'containerd.pid'), { force: true });
}

function endIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone in the meantime
  }
}

/** The innermost first. */
function mountsBelow(folder: string): readonly string[] {
  const places = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return places.filter((place) => place.startsWith(`${folder}/`)).reverse();
}

/** One that runs. Unless told otherwise it is somebody else's to end. */
export function engineAt(kind: TestEngine['kind'], host: string, daemon: Daemon = SOMEBODY_ELSES): TestEngine {
  async function cli(...words: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(client(kind), clientArgs(kind, host, words), {
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  }
  return {
    kind,
    env: { DOCKER_HOST: host, SALLYPORT_RELAY_IMAGE: BASE_IMAGE },
    cli,
    async containers() {
      const found = await cli('ps', '-a', '--filter', `label=${LABEL.workload}`, '--format', '{{.Names}} {{.Labels}}');
      const lines = found.split('\n').filter((line) => homesOfThisFile().some((home) => line.includes(home)));
      return lines.map((line) => line.slice(0, line.indexOf(' ')));
    },
    ...daemon,
  };
}

/** The engine with the images that every test needs in it. */
async function filled(engine: TestEngine): Promise<TestEngine> {
  if (!(await hasImage(engine, BASE_IMAGE))) await engine.cli('import', await baseArchive(), BASE_IMAGE);
  await engine.cli('build', '--quiet', '-t', SERVER_IMAGE, join(FIXTURES, 'server'));
  return engine;
}

export async function hasImage(engine: TestEngine, image: string): Promise<boolean> {
  const names = (await engine.cli('images', '--format', '{{.Repository}}:{{.Tag}}')).split('\n');
  return names.some((name) => name.endsWith(image));
}

/** Debian with Python, the Node.js of the tests and the npm of this machine, made once. */
async function baseArchive(): Promise<string> {
  const archive = join(IMAGE_CACHE, 'base.tar');
  if (existsSync(archive)) return archive;
  mkdirSync(IMAGE_CACHE, { recursive: true });
  const npm = dirname(dirname(realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())));
  const draft = `${archive}.${process.pid}.tar`;
  const without = ['doc', 'locale', 'man', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  // Not with execFileSync: who waits for this has other things to answer meanwhile.
  const made = spawn(
    'mmdebstrap',
    [
      ...[
        '--variant=minbase',
        '--aptopt=Acquire::Retries "3"',
        '--include=python3,python3-venv,ca-certificates,libstdc++6',
        ...without,
      ],
      `--customize-hook=upload '${realpathSync(process.execPath)}' /usr/local/bin/node`,
      '--customize-hook=chmod 755 "$1/usr/local/bin/node"',
      '--customize-hook=mkdir -p "$1/usr/local/lib/node_modules"',
      `--customize-hook=copy-in '${npm}' /usr/local/lib/node_modules`,
      '--customize-hook=ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"',
      ...['bookworm', draft],
    ],
    { stdio: 'inherit' },
  );
  const [code] = (await once(made, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`mmdebstrap ended with ${code}`);
  renameSync(draft, archive);
  return archive;
}

/** Debian's own: another `docker` on the PATH may be too new for it. */
function client(kind: TestEngine['kind']): string {
  return kind === 'docker' ? '/usr/bin/docker' : 'podman';
}

function clientArgs(kind: TestEngine['kind'], host: string, words: readonly string[]): string[] {
  return kind === 'docker' ? ['--host', host, ...words] : ['--url', host, ...words];
}
