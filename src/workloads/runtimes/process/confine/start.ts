import { SallyError } from '../../../../base/index.ts';
import type { ProcessLaunch } from '../../../launch.ts';
import { proxyPortBeside, proxyVariables } from '../../engine/relay/proxy-variables.ts';
import { relayProgram } from '../../engine/relay/relay.ts';
import { MARK_VARIABLE } from '../environment.ts';
import { INSIDE, wrapping } from './arguments.ts';

/** The first descriptor after stdin, stdout and stderr. */
export const FIRST_FD = 3;

/** What is handed to the system to start a server. */
export interface Start {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** The first process is bubblewrap, with the server behind its walls. */
  readonly isWrapped: boolean;
  /** Texts for the descriptors from `FIRST_FD` on. */
  readonly files: readonly string[];
  /** Where our relay finds its pipe. */
  readonly relayFd: number | undefined;
}

/** The command of a launch as it is, or behind walls. `env` is what the server would get without them. */
export function startOf(launch: ProcessLaunch, env: Readonly<Record<string, string>>): Start {
  const { name, command, args, cwd, confinement } = launch;
  if (!confinement) return { name, command, args, cwd, env, isWrapped: false, files: [], relayFd: undefined };
  const { network, listens } = confinement;
  const wrapped = wrapping(confinement, FIRST_FD + 1);
  const proxyPort = network.kind === 'isolated' ? proxyPortBeside(listens?.port) : undefined;
  const relayFd = proxyPort === undefined && listens === undefined ? undefined : FIRST_FD + 1 + wrapped.files.length;
  const relay =
    relayFd === undefined
      ? []
      : [
          ...[process.execPath, '--max-old-space-size=64', '-e'],
          relayProgram({ fd: relayFd, ...(proxyPort === undefined ? {} : { proxyPort }) }),
          '--',
        ];
  const variables = Object.entries(insideVariables(launch, env, proxyPort));
  const words = [...wrapped.args, '--clearenv', ...variables.flatMap(([key, value]) => ['--setenv', key, value])];
  return {
    name,
    command: confinement.bwrap,
    args: ['--args', String(FIRST_FD), '--', ...relay, command, ...args],
    cwd: '/', // the folder of the launch may not be there inside
    // Bubblewrap itself is outside: what a server is told (LD_PRELOAD) must not count for it. Only the mark does.
    env: { [MARK_VARIABLE]: env[MARK_VARIABLE] ?? '' },
    isWrapped: true,
    files: [terminated(name, words), ...wrapped.files],
    relayFd,
  };
}

/** Words for a descriptor, where no other user sees them. A NUL inside of one would make two of it. */
function terminated(name: string, words: readonly string[]): string {
  if (words.some((word) => word.includes('\0'))) {
    throw new SallyError('workload.reference_invalid', `${name} cannot start: a variable or path of it holds a NUL`, {
      hint: 'look at the variables, secrets and volumes of the server',
    });
  }
  return words.map((word) => `${word}\0`).join('');
}

/** Ways of this machine that lead nowhere from inside. */
const MISLEADING = /^(XDG_.*|(HTTPS?|NO|ALL)_PROXY|SHELL|SSH_.*)$/i;

/** What the launch itself says stays as it is; what comes from our own environment fits the place. */
function insideVariables(
  { env: own, confinement }: ProcessLaunch,
  all: Readonly<Record<string, string>>,
  proxyPort: number | undefined,
): Record<string, string> {
  const isOpen = confinement?.network.kind === 'open';
  const kept = Object.entries(all).filter(
    ([name]) => name in own || !MISLEADING.test(name) || (isOpen && /_proxy$/i.test(name)),
  );
  const place = { HOME: INSIDE.home, USER: INSIDE.user, LOGNAME: INSIDE.user, TMPDIR: '/tmp' };
  const ways = proxyPort === undefined ? {} : proxyVariables(proxyPort);
  const said = Object.fromEntries(Object.keys(own).map((name) => [name, all[name] ?? '']));
  return { ...Object.fromEntries(kept), ...place, ...ways, ...said };
}
