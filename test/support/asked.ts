import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Finished, ROOT, type RunOptions } from './sally.ts';

const SALLY = join(ROOT, 'bin/sally.js');

/** Runs one `sally` command with something piped into it. */
export async function sallyFed(args: readonly string[], input: string, options: RunOptions = {}): Promise<Finished> {
  return await run(process.execPath, [SALLY, ...args], input, options);
}

/** A question that is waited for, and what is typed then. */
export type Answer = readonly [question: string, typed: string];

/**
 * Runs one `sally` command at a real terminal, and answers its questions. `stdout` is all that the terminal showed, what was
 * typed included, if it was shown. Python has the terminal, since Node cannot make one.
 */
export async function sallyAtTerminal(
  args: readonly string[],
  answers: readonly Answer[],
  options: RunOptions = {},
): Promise<Finished> {
  const command = [process.execPath, SALLY, ...args];
  return await run('python3', ['-c', TERMINAL], JSON.stringify({ command, answers }), options);
}

const TERMINAL = `
import json, os, pty, sys, time
asked = json.load(sys.stdin)
pid, terminal = pty.fork()
if pid == 0:
    os.execv(asked["command"][0], asked["command"])
shown, seen, waiting = b"", 0, list(asked["answers"])
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        piece = b""
    if not piece:
        break
    shown += piece
    if waiting and waiting[0][0].encode() in shown[seen:]:
        seen = len(shown)
        time.sleep(0.1)
        os.write(terminal, waiting.pop(0)[1].encode())
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

async function run(
  program: string,
  args: readonly string[],
  input: string,
  { cwd = ROOT, env = {} }: RunOptions,
): Promise<Finished> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: 'pipe' });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {}); // a command that does not read its input may be gone already
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}
