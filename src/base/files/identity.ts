import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** One process, told apart from every other that had its number before or will have it later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it began, in words of the system. */
  readonly born: string;
}

/** Whether this very process still runs. A number alone says little: the system gives it to somebody else one day. */
export function isSameProcess({ pid, born }: ProcessIdentity): boolean {
  return birthOf(pid) === born;
}

export function selfIdentity(): ProcessIdentity {
  return { pid: process.pid, born: birthOf(process.pid) ?? 'unknown' };
}

/** When a process began, or `undefined` when none of that number runs. One that ended and was not collected does not run. */
export function birthOf(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === 'linux' ? birthOnLinux(pid) : birthByPs(pid);
}

/** Ticks since the start of the machine, which is named too: after a reboot the ticks begin again. */
function birthOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // `pid (name) state …`: the name may contain anything, brackets too. The start time is the 22nd field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${fields[19]}`;
  } catch {
    return undefined; // there is no such process
  }
}

function birthByPs(pid: number): string | undefined {
  try {
    const options = {
      encoding: 'utf8',
      timeout: 5_000,
      env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/bin:/usr/bin' },
    } as const;
    const [state, ...started] = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], options)
      .trim()
      .split(/\s+/);
    return state === undefined || state.startsWith('Z') || started.length === 0 ? undefined : started.join(' ');
  } catch {
    return undefined; // ps says so by its exit code
  }
}
