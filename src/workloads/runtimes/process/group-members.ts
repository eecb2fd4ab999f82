import { readdirSync, readFileSync } from 'node:fs';

/**
 * Whether nothing runs in a process group any more. Zombies count as gone: in a container whose first process does not
 * collect orphans they stay forever, and nothing can end them.
 */
export function isGroupGone(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch {
    return true; // ESRCH: nobody is left. EPERM: nobody whom we could end.
  }
  return process.platform === 'linux' && onlyZombies(group);
}

/** The process group of a process, where the system tells. */
export function groupOf(pid: number): number | undefined {
  return statOf(pid).group;
}

function onlyZombies(group: number): boolean {
  const states = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((entry) => statOf(Number(entry)))
    .filter((stat) => stat.group === group)
    .map((stat) => stat.state);
  return states.length > 0 && states.every((state) => state === 'Z' || state === 'X');
}

function statOf(pid: number): { readonly state?: string; readonly group?: number } {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // `pid (name) state parent group …`: the name may contain anything, brackets too.
    const [state = '', , group] = text.slice(text.lastIndexOf(')') + 2).split(' ', 3);
    return { state, group: Number(group) };
  } catch {
    return {}; // It ended while we looked.
  }
}
