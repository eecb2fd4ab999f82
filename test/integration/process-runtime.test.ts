import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type LogFields, type SallyError, Secret, silentLog } from '../../src/base/index.ts';
import {
  createGuardian,
  type ProcessLaunch,
  type SuperviseParts,
  superviseProcess,
} from '../../src/workloads/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-processes-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Short waits, and no second try unless a test asks for one. */
const QUICK = { restarts: 0, firstPauseMs: 20, stdinGraceMs: 100, termGraceMs: 200 };

/** A server in shell. Whatever it starts inherits the mark, and can be found by it later. */
function shell(script: string, env: ProcessLaunch['env'] = {}): ProcessLaunch & { readonly mark: string } {
  const mark = randomUUID();
  return { name: 'notes', command: '/bin/sh', args: ['-c', script], env: { MARK: mark, ...env }, mark };
}

/** Every living process that carries the mark, wherever it has gone. */
function marked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && readProc(entry, 'environ').includes(mark))
    .map(Number);
}

function readProc(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return ''; // It ended while we looked.
  }
}

function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // The one with which we read this very folder.
    }
  });
}

function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(readProc(pid, 'status'));
}

/** Signals to process 0 would reach the tests themselves. */
function known(pid: number | undefined): number {
  if (!pid) throw new Error('no process runs');
  return pid;
}

/** Supervises a launch and writes down what its listener and its log hear. */
function supervise(launch: ProcessLaunch, parts: Partial<SuperviseParts> = {}) {
  const lines: string[] = [];
  const sends: ((line: string) => void)[] = [];
  const masks: ((text: string, length?: number) => string)[] = [];
  const stops: { readonly error: SallyError; readonly final: boolean }[] = [];
  const warnings: LogFields[] = [];
  const guardian = createGuardian({ log: silentLog });
  const server = superviseProcess(launch, {
    listener: {
      started(send, mask) {
        sends.push(send);
        masks.push(mask);
      },
      line: (line) => lines.push(line),
      stopped: (error, final) => stops.push({ error, final }),
    },
    guardian,
    log: { ...silentLog, warn: (_, fields = {}) => warnings.push(fields) },
    ...parts,
    limits: { ...QUICK, ...parts.limits },
  });
  return {
    server,
    guardian,
    lines,
    sends,
    masks,
    stops,
    warnings,
    send: (line: string) => sends.at(-1)?.(line),
    async [Symbol.asyncDispose]() {
      await server.close();
      await guardian.close();
    },
  };
}

const soon = (check: () => void, timeout = 5_000) => vi.waitFor(check, { timeout, interval: 10 });

describe('a supervised process', () => {
  it('gets lines on its stdin and gives back those of its stdout', async () => {
    await using notes = supervise(shell('exec cat'));
    expect(notes.server.state()).toBe('starting');
    await soon(() => expect(notes.sends).toHaveLength(1));
    expect(notes.server.state()).toBe('running');
    const sent = ['one', '{"text":"zwei 🙂"}', 'x'.repeat(1024 * 1024), 'last'];
    for (const line of sent) notes.send(line);
    await soon(() => expect(notes.lines).toEqual(sent));
  });

  it('is asked to end by the end of its stdin, before any signal', async () => {
    const launch = shell('trap "echo signal >&2" TERM; cat; echo bye >&2');
    const notes = supervise(launch, { limits: { stdinGraceMs: 5_000 } });
    await soon(() => expect(notes.sends).toHaveLength(1));
    await notes[Symbol.asyncDispose]();
    expect(notes.server.lastLines()).toEqual(['bye']);
    expect(notes.server.state()).toBe('stopped');
    expect(notes.server.pid()).toBeUndefined();
    expect(notes.stops).toMatchObject([
      { error: { code: 'listener.draining', message: 'notes was stopped' }, final: true },
    ]);
  });

  it('is killed when it ignores the end of its stdin and SIGTERM', async () => {
    const launch = shell('trap "" TERM; echo ready; while :; do sleep 0.05; done');
    const notes = supervise(launch);
    await soon(() => expect(notes.lines).toEqual(['ready']));
    const began = performance.now();
    await notes.server.close();
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(marked(launch.mark)).toEqual([]);
    await notes.guardian.close();
  });

  it('may be closed twice, and before it started', async () => {
    const launch = shell('exec cat');
    const notes = supervise(launch);
    await Promise.all([notes.server.close(), notes.server.close()]);
    await notes[Symbol.asyncDispose]();
    expect(notes.sends).toEqual([]);
    expect(notes.stops).toHaveLength(1);
    expect(marked(launch.mark)).toEqual([]);
  });

  it('loses no answer that it wrote before it ended', async () => {
    const heard: string[] = [];
    await using notes = supervise(shell('read -r line; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo $i; done'), {
      listener: {
        started: (send) => send('go'),
        line: (line) => heard.push(line),
        stopped: () => heard.push('stopped'),
      },
    });
    await soon(() => expect(heard.at(-1)).toBe('stopped'));
    expect(heard).toHaveLength(2_001);
    expect(notes.server.state()).toBe('failed');
  });

  it('survives to be written to after it closed its stdin', async () => {
    await using notes = supervise(shell('exec <&-; echo ready; sleep 0.2; echo done; exec sleep 600'));
    await soon(() => expect(notes.lines).toEqual(['ready']));
    for (let n = 0; n < 20; n++) notes.send('is anybody there');
    await soon(() => expect(notes.lines).toEqual(['ready', 'done']));
    expect(notes.stops).toEqual([]);
  });
});

describe('a process that ends by itself', () => {
  it('is started again with growing pauses until its tries are used up', async () => {
    await using notes = supervise(shell('exit 3'), { limits: { restarts: 3 }, random: () => 1 });
    await soon(() => expect(notes.stops.at(-1)?.final).toBe(true));
    expect(notes.sends).toHaveLength(4);
    expect(notes.stops.map(({ final }) => final)).toEqual([false, false, false, true]);
    expect(notes.warnings.map(({ pauseMs }) => pauseMs)).toEqual([20, 40, 80]);
    expect(notes.server.state()).toBe('failed');
    await notes.server.close();
    expect(notes.stops).toHaveLength(4);
  });

  it('has all its tries again after a good run', async () => {
    await using notes = supervise(shell('exit 3'), { limits: { restarts: 1, stableAfterMs: 0, firstPauseMs: 1 } });
    await soon(() => expect(notes.sends.length).toBeGreaterThan(4));
    expect(notes.stops.every(({ final }) => !final)).toBe(true);
  });

  it('is reported at once, with the last thing it said', async () => {
    const launch = shell('echo "reading config" >&2; printf "\\033[31mno API key\\033[0m: $TOKEN" >&2; exit 7', {
      TOKEN: new Secret('hunter2-hunter2'),
    });
    await using notes = supervise(launch, { limits: { restarts: 5, firstPauseMs: 60_000 } });
    await soon(() => expect(notes.stops).toHaveLength(1));
    const { error, final } = notes.stops[0] ?? {};
    expect(error?.code).toBe('workload.exited');
    expect(error?.message).toBe(
      'notes ended with exit code 7. Its last words:\n  reading config\n  no API key: [secret]',
    );
    expect(final).toBe(false);
    // The pause of a minute does not keep anybody from closing.
    expect(notes.server.state()).toBe('waiting');
    const began = performance.now();
    await notes.server.close();
    expect(performance.now() - began).toBeLessThan(500);
    expect(notes.stops.map((stop) => stop.final)).toEqual([false, true]);
  });

  it.each([
    ['a program that does not exist', { command: '/no/such/program' }, 'workload.program_missing'],
    ['a file that is not executable', { command: import.meta.filename }, 'workload.program_missing'],
    ['a folder that does not exist', { cwd: '/no/such/folder' }, 'workload.reference_invalid'],
    ['arguments beyond measure', { args: ['x'.repeat(10_000_000)] }, 'workload.reference_invalid'],
  ])('never ran with %s', async (_, change, code) => {
    await using notes = supervise({ ...shell('exec cat'), ...change });
    await soon(() => expect(notes.stops).toMatchObject([{ error: { code }, final: true }]));
    expect(notes.sends).toEqual([]);
  });
});

describe('a process that misbehaves', () => {
  it('is ended when a line on stdout has no end', async () => {
    const launch = shell('yes | tr -d "\\n"');
    await using notes = supervise(launch, { limits: { lineBytes: 100_000 } });
    await soon(() => expect(notes.stops).toMatchObject([{ error: { code: 'workload.not_mcp' }, final: true }]));
    expect(notes.lines).toEqual([]);
    expect(marked(launch.mark)).toEqual([]);
  });

  it('is ended and started again when it does not read', async () => {
    await using notes = supervise(shell('exec sleep 600'), { limits: { unreadBytes: 1_000_000, restarts: 1 } });
    await soon(() => expect(notes.sends).toHaveLength(1));
    for (let n = 0; n < 40; n++) notes.send('x'.repeat(64 * 1024));
    await soon(() => expect(notes.sends).toHaveLength(2));
    expect(notes.stops[0]?.error.message).toMatch('unread');
  });

  it('is ended and started again when it closes its stdout and lives on', async () => {
    const launch = shell('echo "going dark" >&2; echo ready; exec >&-; exec sleep 600');
    await using notes = supervise(launch, { limits: { restarts: 1 } });
    await soon(() => expect(notes.stops.at(-1)?.final).toBe(true));
    expect(notes.sends).toHaveLength(2);
    expect(notes.lines).toEqual(['ready', 'ready']);
    for (const { error } of notes.stops) {
      expect(error.code).toBe('workload.exited');
      expect(error.message).toBe('notes was ended: it closed its stdout. Its last words:\n  going dark');
    }
    expect(marked(launch.mark)).toEqual([]);
  });

  it('is told by its exit code when it closes its stdout just before it ends', async () => {
    await using notes = supervise(shell('exec >&-; sleep 0.1; exit 7'));
    await soon(() => expect(notes.stops).toHaveLength(1));
    expect(notes.stops[0]?.error.message).toMatch('ended with exit code 7');
  });

  it('may do with its stdout what it likes when it answers elsewhere', async () => {
    const script = 'echo ready; yes | tr -d "\\n" | head -c 300000; echo; echo done; exec >&-; exec sleep 600';
    await using notes = supervise(shell(script), { stdout: 'free', limits: { lineBytes: 100_000 } });
    await soon(() => expect(notes.lines).toEqual(['ready', 'done']));
    await sleep(1_000);
    expect(notes.stops).toEqual([]);
    expect(notes.server.state()).toBe('running');
  });

  it('cannot hold us up with a descendant that left its group, hid its traces and kept our pipes', async () => {
    const launch = shell('env -i "HIDDEN=$MARK" setsid sleep 600 & echo ready; exec cat');
    const notes = supervise(launch);
    await soon(() => expect(notes.lines).toEqual(['ready']));
    await soon(() => expect(marked(`HIDDEN=${launch.mark}`)).toHaveLength(1));
    const began = performance.now();
    await notes[Symbol.asyncDispose]();
    expect(performance.now() - began).toBeLessThan(2_000);
    for (const pid of marked(launch.mark)) process.kill(pid, 'SIGKILL');
  });
});

describe('what a process started', () => {
  it('is gone after close', async () => {
    const launch = shell('sleep 600 & sh -c "trap \\"\\" TERM; sleep 600" & echo ready; exec cat');
    const notes = supervise(launch);
    await soon(() => expect(notes.lines).toEqual(['ready']));
    await soon(() => expect(marked(launch.mark).length).toBeGreaterThanOrEqual(4));
    await notes[Symbol.asyncDispose]();
    expect(marked(launch.mark)).toEqual([]);
  });

  it('is gone when the process itself has crashed, before we say so', async () => {
    const launch = shell('sleep 600 & sleep 600 & echo ready; exec cat');
    const left: number[][] = [];
    const lines: string[] = [];
    await using notes = supervise(launch, {
      listener: { started: () => {}, line: (line) => lines.push(line), stopped: () => left.push(marked(launch.mark)) },
    });
    await soon(() => expect(lines).toEqual(['ready']));
    process.kill(known(notes.server.pid()), 'SIGKILL');
    await soon(() => expect(left).toEqual([[]]));
  });

  it('is gone after close even if it left the group, whether it heeds SIGTERM or not', async () => {
    const launch = shell(
      'setsid sleep 1000 & setsid sh -c "trap \\"\\" TERM; sleep 1000; sleep 1000" & echo ready; exec cat',
    );
    const notes = supervise(launch);
    await soon(() => expect(notes.lines).toEqual(['ready']));
    await soon(() => expect(marked(launch.mark)).toHaveLength(4));
    await notes.server.close();
    expect(marked(launch.mark)).toEqual([]);
    await notes.guardian.close();
  });

  it('is gone when the process itself has crashed, even if it left the group', async () => {
    const launch = shell('setsid sleep 1000 >/dev/null 2>&1 & echo ready; sleep 0.2; exit 3');
    await using notes = supervise(launch);
    await soon(() => expect(notes.stops).toMatchObject([{ error: { code: 'workload.exited' } }]));
    expect(notes.stops[0]?.error.message).toMatch('exit code 3');
    expect(marked(launch.mark)).toEqual([]);
  });

  it('is left alone when it belongs to another server', async () => {
    const other = shell('setsid sleep 1000 & echo ready; exec cat');
    await using first = supervise(other);
    await soon(() => expect(first.lines).toEqual(['ready']));
    await soon(() => expect(marked(other.mark)).toHaveLength(2));
    const second = supervise(shell('setsid sleep 1000 & echo ready; exec cat'), { guardian: first.guardian });
    await soon(() => expect(second.lines).toEqual(['ready']));
    await second[Symbol.asyncDispose]();
    expect(marked(other.mark)).toHaveLength(2);
  });

  it('gets a signal with its group or by its mark, never both', async () => {
    const notes = supervise(shell('setsid sleep 1000 & echo ready; exec sleep 1000'));
    await soon(() => expect(notes.lines).toEqual(['ready']));
    const pid = known(notes.server.pid());
    await soon(() => expect(readProc(pid, 'comm')).toBe('sleep\n'));
    const kill = vi.spyOn(process, 'kill');
    await notes[Symbol.asyncDispose]();
    const told = kill.mock.calls.filter(([, signal]) => signal === 'SIGTERM').map(([target]) => target);
    kill.mockRestore();
    expect(told).toHaveLength(2);
    expect(told).toContain(-pid);
    expect(told).not.toContain(pid);
  });

  it('gets the time to tidy up even if the process itself is already gone', async () => {
    const done = join(folder, 'tidied-up');
    const child = `trap 'sleep 0.2; echo tidy > ${done}; exit' TERM; echo ready; while :; do sleep 0.02; done`;
    const notes = supervise(shell(`sh -c "$CHILD" & wait`, { CHILD: child }), { limits: { termGraceMs: 5_000 } });
    await soon(() => expect(notes.lines).toEqual(['ready']));
    await notes[Symbol.asyncDispose]();
    expect(existsSync(done)).toBe(true);
  });
});

describe('what a process sees of us', () => {
  it('is neither our secrets nor our open files', async () => {
    vi.stubEnv('SALLYPORT_SECRET_X', 'ours-alone');
    // Whoever started us may have left something open in all of us.
    const inherited = openFiles(process.pid);
    await using first = supervise(shell('exec cat'));
    await using notes = supervise(shell('env; echo; exec cat', { TOKEN: new Secret('its-own') }), {
      guardian: first.guardian,
    });
    await soon(() => expect(notes.lines).toContain('TOKEN=its-own'));
    expect(process.env.SALLYPORT_SECRET_X).toBe('ours-alone');
    expect(notes.lines.join('\n')).not.toMatch(/ours-alone|VITEST/);
    expect(notes.lines.filter((line) => line.includes('SALLYPORT'))).toEqual([
      expect.stringMatching(/^SALLYPORT_GUARDED=[0-9a-f-]{36}\.\d+$/),
    ]);
    const pid = known(notes.server.pid());
    await soon(() => expect(readProc(pid, 'comm')).toBe('cat\n'));
    // Its own three streams and no other; above all not the one whose end tells the guardian that we are gone.
    expect(openFiles(pid).filter((file) => !inherited.includes(file))).toHaveLength(3);
  });

  it('comes back on stdout as it was, with a mask to show it safely', async () => {
    const launch = shell('printf "%s\\n" "key $KEY" "token $GITHUB_TOKEN" "mode $MODE"; exec cat', {
      KEY: new Secret('hunter2\thunter2'),
      GITHUB_TOKEN: 'plain-but-secret',
      MODE: 'plain-text',
    });
    await using notes = supervise(launch);
    await soon(() => expect(notes.lines).toHaveLength(3));
    expect(notes.lines).toEqual(['key hunter2\thunter2', 'token plain-but-secret', 'mode plain-text']);
    const [mask = String] = notes.masks;
    expect(notes.lines.map((line) => mask(line))).toEqual(['key [secret]', 'token [secret]', 'mode plain-text']);
    expect(notes.lines.map((line) => mask(line, 8))).toEqual(['key [secret]', 'token [secret]', 'mode pla']);
  });

  it('does not put secrets on its command line', async () => {
    const launch = shell('echo ready; exec cat', { TOKEN: new Secret('its-own') });
    await using notes = supervise(launch);
    await soon(() => expect(notes.lines).toEqual(['ready']));
    const pid = known(notes.server.pid());
    expect(readProc(pid, 'environ')).toMatch('TOKEN=its-own');
    expect(readProc(pid, 'cmdline')).not.toMatch('its-own');
  });
});

describe('a gateway process', () => {
  const door = pathToFileURL(join(import.meta.dirname, '../../src/workloads/index.ts')).href;
  const base = pathToFileURL(join(import.meta.dirname, '../../src/base/index.ts')).href;

  /** A small gateway of its own in another process, to be killed or watched at its exit. */
  async function drive(name: string, body: string) {
    const mark = randomUUID();
    const file = join(folder, `${name}.mjs`);
    await writeFile(
      file,
      `import { createGuardian, superviseProcess } from '${door}';
import { silentLog as log } from '${base}';
const guardian = createGuardian({ log });
const supervise = (script, listener) => superviseProcess(
  { name: 'notes', command: '/bin/sh', args: ['-c', script], env: { MARK: '${mark}' } },
  { guardian, log, listener: { started() {}, line() {}, stopped() {}, ...listener }, limits: { stdinGraceMs: 1000 } },
);
${body}`,
    );
    const gateway = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const said: string[] = [];
    createInterface({ input: gateway.stdout }).on('line', (line) => said.push(line));
    return { gateway, said, mark };
  }

  const TWO_SERVERS = `let ready = 0;
const line = () => { if (++ready === 2) console.log('ready'); };
supervise('sleep 600 & sleep 600 & echo up; cat; wait', { line });
supervise('trap "" TERM; echo up; while :; do sleep 0.1; done', { line });
let last;
setInterval(() => { if (guardian.pid() !== last) console.log('guardian ' + (last = guardian.pid())); }, 20);
`;

  const guardiansOf = (said: readonly string[]) =>
    said.filter((line) => /^guardian \d/.test(line)).map((line) => Number(line.split(' ')[1]));

  async function kill(gateway: ChildProcess): Promise<void> {
    gateway.kill('SIGKILL');
    await once(gateway, 'exit');
  }

  it('that is killed takes its servers with it, and what they started', async () => {
    const { gateway, said, mark } = await drive('killed', TWO_SERVERS);
    await soon(() => expect(said).toContain('ready'));
    await soon(() => expect(guardiansOf(said)).toHaveLength(1));
    expect(marked(mark).length).toBeGreaterThanOrEqual(5);
    await kill(gateway);
    await soon(() => expect(marked(mark)).toEqual([]));
    await soon(() => expect(guardiansOf(said).filter(isAlive)).toEqual([]));
  });

  it('that is killed takes along what left the groups of its servers', async () => {
    const { gateway, said, mark } = await drive(
      'strays',
      `supervise('setsid sleep 1000 & setsid sh -c "trap \\'\\' TERM; sleep 1000; sleep 1000" & echo up; exec cat', {
  line: () => console.log('ready'),
});
supervise('exec cat', { started: () => console.log('guardian ' + guardian.pid()) });`,
    );
    await soon(() => expect(said).toContain('ready'));
    await soon(() => expect(guardiansOf(said)).toHaveLength(1));
    await soon(() => expect(marked(mark)).toHaveLength(5));
    await kill(gateway);
    await soon(() => expect(marked(mark)).toEqual([]));
    await soon(() => expect(guardiansOf(said).filter(isAlive)).toEqual([]));
  });

  it('replaces a guardian that was killed, and is guarded as before', async () => {
    const { gateway, said, mark } = await drive('unguarded', TWO_SERVERS);
    await soon(() => expect(said).toContain('ready'));
    await soon(() => expect(guardiansOf(said)).toHaveLength(1));
    const first = known(guardiansOf(said)[0]);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(first, signal);
    expect(isAlive(first)).toBe(true);
    process.kill(first, 'SIGKILL');
    await soon(() => expect(guardiansOf(said)).toHaveLength(2));
    expect(gateway.exitCode).toBeNull();
    await kill(gateway);
    await soon(() => expect(marked(mark)).toEqual([]));
    await soon(() => expect(guardiansOf(said).filter(isAlive)).toEqual([]));
  });

  it('leaves no process and nothing open after fifty starts and stops', async () => {
    const { gateway, said, mark } = await drive(
      'fifty',
      `for (let n = 0; n < 50; n++) {
  const up = Promise.withResolvers();
  const server = supervise('sleep 600 & echo up; exec cat', { line: up.resolve });
  await up.promise;
  await server.close();
}
console.log('guardian ' + guardian.pid());
await guardian.close();
console.log('closed');`,
    );
    // It ends without process.exit, which it could not if a timer, pipe or process were left.
    expect(await once(gateway, 'exit')).toEqual([0, null]);
    await soon(() => expect(said).toContain('closed'));
    expect(marked(mark)).toEqual([]);
    expect(guardiansOf(said).filter(isAlive)).toEqual([]);
  });
});
