import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Log } from '../../../base/index.ts';
import { MARK_VARIABLE } from './environment.ts';

/**
 * Plain POSIX shell. It keeps the process groups it is told about and does nothing else until its stdin ends, which happens
 * when we close it or when we die, however we die. What is still on the list then has lost its owner, and so has whatever
 * left its group but carries our mark (its argument). Nobody gets the same signal by group and by mark. Without /proc nothing
 * is found by its mark. GNU grep takes an environment for one line, BusyBox for a line per variable; both find a fixed string.
 */
const SCRIPT = `trap '' INT TERM HUP QUIT
mark=$1
folder=
groups=' '
strays() {
  for file in $(grep -lF "${MARK_VARIABLE}=$mark." /proc/[0-9]*/environ); do
    process=\${file%/environ}
    read -r stat <"$process/stat" || continue
    set -- \${stat##*) }
    case $groups in *" $3 "*) ;; *) echo "\${process#/proc/}" ;; esac
  done
}
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    /) folder=$group ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
[ -n "$folder" ] && rm -rf -- "$folder"
left=$(strays)
[ "$groups$left" = ' ' ] && exit
for group in $groups; do kill -s TERM -- "-$group"; done
kill -s TERM -- $left
sleep 1
for group in $groups; do kill -s KILL -- "-$group"; done
for again in 1 2 3; do kill -s KILL -- $(strays); done`;

/** A guardian that dies younger than this has a lasting reason; the next one waits as long. */
const YOUNG_MS = 1_000;

export interface GuardianParts {
  readonly log: Log;
  /** Where `sleep` and `grep` are found (`PATH`). */
  readonly path?: string | undefined;
}

/** Ends the processes of a gateway that was killed before it could. One guardian serves a whole gateway. */
export interface Guardian extends AsyncDisposable {
  /** A mark for the environment of a process: no other process has it, and the guardian knows it for one of ours. */
  newMark(): string;
  /** From now on this process group dies with us. Call it in the same tick as the spawn. */
  watch(group: number): void;
  /** The group is empty. Its number may soon belong to somebody else, so say it at once. */
  release(group: number): void;
  /** From now on this folder goes with us, with everything in it. There is one at most. */
  sweep(folder: string): void;
  /** The guardian's own process; it runs while there is something to guard. */
  pid(): number | undefined;
  close(): Promise<void>;
}

export function createGuardian({ log, path = process.env.PATH }: GuardianParts): Guardian {
  const groups = new Set<number>();
  const mark = randomUUID();
  let marks = 0;
  let swept: string | undefined;
  let current: ChildProcess | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;

  function start(): void {
    retry = undefined;
    const born = performance.now();
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'sallyport-guardian', mark], {
      cwd: '/', // It must not keep a folder busy that somebody wants to unmount.
      detached: true, // Ctrl-C in our terminal is not meant for it.
      env: path === undefined ? {} : { PATH: path }, // Without the mark, or it would find itself.
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // Broken pipe: it died, and `gone` hears of that too.
    child.stdin.on('error', () => {});
    child.once('exit', () => gone());
    child.once('error', gone);
    // It guards a working gateway and is no reason to keep one working.
    child.unref();
    (child.stdin as Socket).unref();
    current = child;
    if (swept !== undefined) tell('/', swept);
    for (const group of groups) tell('+', group);

    function gone(error?: Error): void {
      if (current !== child) return;
      current = undefined;
      if (closed || groups.size === 0) return;
      log.warn('the guardian of the server processes ended, another one takes over', { error });
      if (performance.now() - born >= YOUNG_MS) start();
      else retry = setTimeout(start, YOUNG_MS).unref();
    }
  }

  function tell(sign: '+' | '-' | '/', group: number | string): void {
    current?.stdin?.write(`${sign} ${group}\n`);
  }

  async function close(): Promise<void> {
    closed = true;
    clearTimeout(retry);
    const child = current;
    if (child?.pid === undefined) return;
    child.ref();
    child.stdin?.end();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  return {
    newMark: () => `${mark}.${++marks}`,
    watch(group) {
      groups.add(group);
      if (current) tell('+', group);
      else if (closed) log.error('a process starts after its guardian was closed', { group });
      else if (retry === undefined) start();
    },
    release(group) {
      if (groups.delete(group)) tell('-', group);
    },
    sweep(folder) {
      if (/[\r\n]/.test(folder)) return; // a line is one word to the guardian
      swept = folder;
      tell('/', folder);
    },
    pid: () => current?.pid,
    close,
    [Symbol.asyncDispose]: close,
  };
}
