import { rm } from 'node:fs/promises';
import type { AuthReport, Revoked, Selection, SessionReport } from '../authserver/index.ts';
import { codeOf, type ErrorCode, FACES, SallyError } from '../base/index.ts';
import type { Environment } from '../workloads/index.ts';
import { socketsOf } from './admin.ts';
import { askSocket } from './ask-socket.ts';
import { type LoginsAnswer, queryOf } from './login-questions.ts';

/** Milliseconds: providers are looked at, and ending a few hundred logins takes its time. */
const ANSWER_WITHIN = 30_000;

interface Refused {
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}

/** The logins at the gateways of this user that run right now; `undefined` when none does. */
export async function readLogins(env: Environment, user?: string): Promise<readonly AuthReport[] | undefined> {
  const query = user === undefined ? '' : `?${new URLSearchParams({ user })}`;
  const answers = await askGateways<LoginsAnswer>(env, 'GET', `/logins${query}`);
  if (answers.length === 0) return undefined;
  const reports = new Map<string, AuthReport>();
  for (const report of answers.flatMap(({ servers }) => servers)) {
    const key = `${report.server} ${report.page}`;
    reports.set(key, joined(reports.get(key), report));
  }
  return [...reports.values()];
}

/** Ends logins at all of them, and says how many. */
export async function revokeLogins(env: Environment, selection: Selection): Promise<number> {
  let ended = 0;
  for (let isMore = true; isMore; ) {
    const answers = await askGateways<Revoked>(env, 'POST', `/logins/revoke?${queryOf(selection)}`);
    const ambiguous = answers.flatMap((answer) => answer.ambiguous ?? []);
    const now = answers.reduce((sum, answer) => sum + answer.ended, 0);
    ended += now;
    if (ambiguous.length > 0) {
      const ids = [...new Set(ambiguous)].join('\n');
      throw new SallyError('login.ambiguous', `several users have this email address:\n${ids}`, {
        hint: 'choose one by the id: sally auth revoke --user ID',
      });
    }
    isMore = now > 0 && answers.some((answer) => answer.isMore);
  }
  return ended;
}

/** Several processes that share a store know the same logins. */
function joined(one: AuthReport | undefined, other: AuthReport): AuthReport {
  if (!one) return other;
  // Each knows at once what was used there, and a minute later what was used elsewhere: the later time is right.
  const latest = new Map<string, SessionReport>();
  for (const session of [...one.sessions, ...other.sessions]) {
    const known = latest.get(session.id);
    if (!known || (known.lastUse ?? '') < (session.lastUse ?? '')) latest.set(session.id, session);
  }
  const sessions = [...latest.values()].sort((a, b) => usedAt(b) - usedAt(a));
  return { ...one, sessions, total: Math.max(one.total, other.total, sessions.length) };
}

function usedAt({ lastUse, since }: SessionReport): number {
  return Date.parse(lastUse ?? since);
}

/** A gateway that does not answer is an error: nobody could tell whether what was asked for is done there. */
async function askGateways<T>(env: Environment, method: 'GET' | 'POST', path: string): Promise<readonly T[]> {
  const answers: T[] = [];
  // One after the other: of two that share a store, only one ends a login.
  for (const socket of await socketsOf(env)) {
    const answer = await ask<T>(socket, method, path);
    if (answer) answers.push(answer);
  }
  return answers;
}

async function ask<T>(socket: string, method: 'GET' | 'POST', path: string): Promise<T | undefined> {
  try {
    const answer = JSON.parse(await askSocket(socket, method, path, ANSWER_WITHIN)) as T & Refused;
    if (!answer.error) return answer;
    const { code, message, hint } = answer.error;
    throw new SallyError(isCode(code) ? code : 'internal.bug', message, hint === undefined ? {} : { hint });
  } catch (error) {
    if (error instanceof SallyError) throw error;
    // A killed gateway leaves its file behind.
    if (codeOf(error) === 'ECONNREFUSED' || codeOf(error) === 'ENOENT') {
      await rm(socket, { force: true });
      return undefined;
    }
    throw new SallyError('login.unanswered', 'a running gateway did not answer', {
      cause: error,
      hint: 'see what it says with: sally vmcp status',
    });
  }
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(FACES, code);
}
