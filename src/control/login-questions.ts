import type { AuthAdmin, AuthReport, Revoked, Selection } from '../authserver/index.ts';

/** What a running gateway says about logins, and does with them, when its owner asks over the socket. */

export async function reportLogins(admins: readonly AuthAdmin[], query: URLSearchParams): Promise<LoginsAnswer> {
  const user = query.get('user') ?? undefined;
  return { servers: await Promise.all(admins.map((admin) => admin.report(user))) };
}

export async function endLogins(admins: readonly AuthAdmin[], query: URLSearchParams): Promise<Revoked | undefined> {
  const selection = selectionOf(query);
  if (!selection) return undefined;
  const answers = await Promise.all(admins.map((admin) => admin.revoke(selection)));
  const ambiguous = answers.flatMap((one) => one.ambiguous ?? []);
  return {
    ended: answers.reduce((sum, { ended }) => sum + ended, 0),
    isMore: answers.some(({ isMore }) => isMore),
    ...(ambiguous.length > 0 ? { ambiguous } : {}),
  };
}

export interface LoginsAnswer {
  readonly servers: readonly AuthReport[];
}

export function queryOf(selection: Selection): URLSearchParams {
  return new URLSearchParams(
    Object.fromEntries(Object.entries(selection).map(([name, value]) => [name, String(value)])),
  );
}

/** Exactly one of the three, so that nothing is ended that was not meant. */
function selectionOf(query: URLSearchParams): Selection | undefined {
  const [[name, value] = [], ...others] = [...query];
  if (others.length > 0 || !value) return undefined;
  switch (name) {
    case 'id':
      return { id: value };
    case 'user':
      return { user: value };
    case 'all':
      return value === 'true' ? { all: true } : undefined;
    default:
      return undefined;
  }
}
