import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { SERVER_IMAGE, startDocker, type TestEngine } from '../test/support/engine.ts';
import { installServers } from '../test/support/mcp-servers.ts';
import { cpuMicros, rssMegabytes } from './processes.ts';
import { median } from './statistics.ts';

/**
 * `npm run bench:starts [-- --rounds 9] [-- --no-containers] [-- --against FOLDER]`: what `sally` adds to the start of a server that is
 * installed or built already. By hand and by `sally` in turn, so that a disturbance of the machine meets both; each waits for the answer
 * to `initialize`. The folder is another checkout that is built: then it takes its turn too.
 */
const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    containers: { type: 'boolean', default: true },
    against: { type: 'string' },
  },
  allowNegative: true,
});
const ROOT = resolve(import.meta.dirname, '..');
/** The folders whose programs are measured, by what they are called in the table. */
const PROGRAMS = { ...(flags.against === undefined ? {} : { before: resolve(flags.against) }), now: ROOT };
const AT_MOST = 300;

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
});

/** One server, as somebody would start it by hand and as `sally` starts it. */
interface Subject {
  readonly name: string;
  readonly byHand: readonly string[];
  readonly reference: string;
  readonly flags: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Row {
  readonly name: string;
  readonly byHand: number;
  readonly run: number;
  readonly start: number;
  /** Processor time of the command and of the supervisor, until the server answered: the least that a start takes on a quiet machine. */
  readonly cpu: number;
  /** Memory of the supervisor once the server answered, in megabytes. */
  readonly rss: number;
}

async function answers(child: ChildProcess): Promise<void> {
  child.stdin?.write(`${INITIALIZE}\n`);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  for await (const line of lines) if (line.includes('"result"')) return;
  throw new Error(`${child.spawnargs.join(' ')} ended without an answer`);
}

async function timed(work: () => Promise<void> | void): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function byHand({ byHand: [program = '', ...args], cwd }: Subject): Promise<number> {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const took = await timed(() => answers(child));
  child.stdin?.end();
  child.kill();
  await ended;
  return took;
}

async function measure(subject: Subject, home: string, rounds: number): Promise<readonly Row[]> {
  const samples: Omit<Row, 'name'>[][] = Object.keys(PROGRAMS).map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, folder] of Object.values(PROGRAMS).entries()) {
      const sample = await startedOnce(subject, home, folder);
      if (round > 0) samples[index]?.push(sample); // the first one fills the caches
    }
  }
  return Object.keys(PROGRAMS).map((program, index) => {
    const middle = (what: keyof Omit<Row, 'name'>): number =>
      median((samples[index] ?? []).map((sample) => sample[what]));
    const name = samples.length > 1 ? `${subject.name}, ${program}` : subject.name;
    const [byHand, run, start, cpu, rss] = (['byHand', 'run', 'start', 'cpu', 'rss'] as const).map(middle);
    return { name, byHand, run, start, cpu, rss } as Row;
  });
}

/** Each way of starting a server, once. */
async function startedOnce(subject: Subject, home: string, program: string): Promise<Omit<Row, 'name'>> {
  const { cwd, env, reference } = subject;
  const sally = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(program, 'bin/sally.js'), ...args], {
      cwd,
      env: { ...process.env, ...env, SALLYPORT_HOME: home },
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`sally ${args.join(' ')} ended with ${status}:\n${stderr}`);
    return stdout;
  };
  const hand = await byHand(subject);
  const run = await timed(() => void sally('run', reference, '--name', 'subject', ...subject.flags));
  sally('stop', 'subject');
  const before = cpuOfChildren();
  const start = await timed(() => void sally('start', 'subject'));
  const command = cpuOfChildren() - before;
  const { pid } = JSON.parse(sally('status', 'subject', '--format', 'json')) as { pid: number };
  const cpu = command + cpuMicros(pid) / 1_000;
  const rss = rssMegabytes(pid);
  sally('rm', 'subject');
  return { byHand: hand, run, start, cpu, rss };
}

/** User and system time of the children that were waited for, in milliseconds. Linux counts in hundredths of a second. */
function cpuOfChildren(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function processes(folder: string): readonly Subject[] {
  const everything = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  const shared = { flags: ['--runtime', 'process'], env: {} };
  return [
    {
      ...shared,
      name: 'a process of a few lines',
      byHand: [process.execPath, join(folder, 'node_modules/good/good.cjs')],
      reference: 'npx://good',
      cwd: folder,
    },
    {
      ...shared,
      name: '`npx://@modelcontextprotocol/server-everything`',
      byHand: [process.execPath, everything],
      reference: 'npx://@modelcontextprotocol/server-everything',
      cwd: ROOT,
    },
  ];
}

/** By hand with the same settings, so that the engine has the same to do. */
function containers({ env }: TestEngine, folder: string): readonly Subject[] {
  const confined = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--init'];
  const docker = ['/usr/bin/docker', '--host', env.DOCKER_HOST ?? '', 'run', '--rm', '-i', '--tmpfs', '/tmp'];
  const byHand = [...docker, ...confined, SERVER_IMAGE];
  const shared = { byHand, reference: SERVER_IMAGE, cwd: folder, env };
  return [
    { ...shared, name: 'a container, stdio', flags: [] },
    { ...shared, name: 'a container, HTTP through the relay', flags: ['--transport', 'streamable-http'] },
  ];
}

function print(rows: readonly Row[]): string {
  const ms = (value: number): string => value.toFixed(0);
  const lines = rows.map(({ name, byHand, run, start, cpu, rss }) => {
    const kept = start - byHand <= AT_MOST ? 'ok' : '**missed**';
    const added = [run - byHand, start - byHand].map(ms).join(' | ');
    return `| ${name} | ${ms(byHand)} | ${ms(run)} | ${ms(start)} | ${added} | ${kept} | ${ms(cpu)} | ${ms(rss)} |`;
  });
  return [
    `| ms, median of ${flags.rounds} | by hand | \`sally run\` | \`sally start\` | run adds | start adds | at most ${AT_MOST} | processor time of ours | MB of the supervisor |`,
    '|---|--:|--:|--:|--:|--:|---|--:|--:|',
    ...lines,
    '',
    `${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`,
  ].join('\n');
}

spawnSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT, stdio: 'inherit' });
const folder = await mkdtemp(join(tmpdir(), 'sally-starts-'));
try {
  await installServers(folder, ['good']);
  const rows: Row[] = [];
  const home = join(folder, 'home');
  for (const subject of processes(folder)) rows.push(...(await measure(subject, home, Number(flags.rounds))));
  if (flags.containers) {
    await using engine = await startDocker();
    for (const subject of containers(engine, folder))
      rows.push(...(await measure(subject, home, Number(flags.rounds))));
  }
  console.log(print(rows));
} finally {
  await rm(folder, { recursive: true, force: true });
}
