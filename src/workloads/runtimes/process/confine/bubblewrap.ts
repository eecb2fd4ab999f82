import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SallyError } from '../../../../base/index.ts';
import type { Environment } from '../../../launch.ts';
import { findProgram } from '../../../origins/program.ts';
import { WALLS } from './arguments.ts';

const ANSWERS_WITHIN = 10_000;

/**
 * Finds bubblewrap and sees whether it can build our walls here: machines differ in whether a user may have namespaces of his own.
 * Where it cannot, nothing is started: a server that should be confined never runs without.
 */
export async function findBubblewrap(server: string, env: Environment): Promise<string> {
  const bwrap = process.platform === 'linux' ? await findProgram('bwrap', env.PATH) : undefined;
  if (bwrap === undefined) {
    throw new SallyError('workload.runtime_missing', `${server} cannot be confined: bubblewrap (bwrap) is not here`, {
      hint:
        process.platform === 'linux'
          ? 'install it (apt install bubblewrap, dnf install bubblewrap), or Docker or Podman'
          : 'install Docker or Podman; bubblewrap is for Linux only',
    });
  }
  const everything = ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'];
  try {
    await promisify(execFile)(bwrap, [...WALLS, '--unshare-net', ...everything, '--', '/bin/sh', '-c', ':'], {
      timeout: ANSWERS_WITHIN,
      env: {},
      cwd: '/',
    });
  } catch (cause) {
    throw new SallyError(
      'workload.runtime_missing',
      `${server} cannot be confined: bubblewrap does not work here${wordsOf(cause)}`,
      {
        cause,
        hint: 'it has to be 0.8 or newer and may need namespaces allowed (user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns); Docker or Podman do as well',
      },
    );
  }
  return bwrap;
}

function wordsOf(cause: unknown): string {
  const { stderr } = cause as { readonly stderr?: unknown };
  const [line = ''] = typeof stderr === 'string' ? stderr.trim().split('\n') : [];
  return line === '' ? '' : ` (${line.slice(0, 200)})`;
}
