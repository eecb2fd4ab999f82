import type { Command } from 'commander';
import type { AuthReport, ConnectionReport, Selection, SessionReport } from '../../authserver/index.ts';
import { printable, SallyError } from '../../base/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json, table } from '../output.ts';
import { since } from '../since.ts';

interface RevokeOptions {
  readonly user?: string;
  readonly all?: boolean;
  readonly format: OutputFormat;
}

const NOTHING_RUNS = 'Nothing runs that has logins. Start with: sally vmcp serve -f FOLDER\n';

export function addAuthCommands(program: Command, shell: Shell): void {
  const auth = program.command('auth').description('the logins at the authorization servers of the gateways that run');

  auth
    .command('sessions')
    .description('show who is logged in, through which client, and since when')
    .option('--user <user>', 'only the logins of this user, by id or email address')
    .addOption(formatOption())
    .addHelpText('after', examples(['auth sessions --user alice@example.com', 'the logins of one user']))
    .action(async ({ user, format }: { readonly user?: string; readonly format: OutputFormat }) => {
      const { readLogins } = await import('../../control/index.ts');
      const reports = await readLogins(shell.env, user);
      if (format === 'json') return shell.out(json(reports ?? []));
      if (!reports || reports.length === 0) return shell.out(NOTHING_RUNS);
      for (const report of reports) shell.out(`${headOf(report)}${sessionsTable(report)}${rest(report, user)}`);
    });

  auth
    .command('status')
    .description('show the identity providers, what each login has there, and what to do where something is missing')
    .argument('[user]', 'only what this user has, by id or email address')
    .addOption(formatOption())
    .addHelpText('after', examples(['auth status alice@example.com', 'why a tool asks alice to log in']))
    .action(async (user: string | undefined, { format }: { readonly format: OutputFormat }) => {
      const { readLogins } = await import('../../control/index.ts');
      const reports = await readLogins(shell.env, user);
      if (format === 'json') return shell.out(json(reports ?? []));
      if (!reports || reports.length === 0) return shell.out(NOTHING_RUNS);
      for (const report of reports) {
        shell.out(`${headOf(report)}${providersTable(report)}\n${connectionsTable(report)}${rest(report, user)}`);
      }
    });

  auth
    .command('revoke')
    .description('end logins at once, here and in every process that shares their store')
    .argument('[login]', 'what sally auth sessions shows as LOGIN')
    .option('--user <user>', 'all logins of this user, by id or email address')
    .option('--all', 'every login')
    .addOption(formatOption())
    .addHelpText('after', examples(['auth revoke --user alice@example.com', 'alice has to log in again everywhere']))
    .action(async (login: string | undefined, options: RevokeOptions) => {
      const selection = selectionOf(login, options);
      const { revokeLogins } = await import('../../control/index.ts');
      const ended = await revokeLogins(shell.env, selection);
      if (ended === 0) throw unknownLogin(selection);
      shell.out(options.format === 'json' ? json({ ended }) : `${ended} ${ended === 1 ? 'login' : 'logins'} ended\n`);
    });
}

/** Exactly one way to say what is meant: ending the wrong logins cannot be taken back. */
function selectionOf(login: string | undefined, { user, all }: RevokeOptions): Selection {
  const meant: readonly Selection[] = [
    ...(login ? [{ id: login }] : []),
    ...(user ? [{ user }] : []),
    ...(all ? [{ all: true } as const] : []),
  ];
  const [only, ...others] = meant;
  if (only && others.length === 0) return only;
  throw new SallyError('usage.invalid', 'say which logins are meant: one by its name, --user or --all', {
    hint: 'sally auth sessions shows those there are',
  });
}

function unknownLogin(selection: Selection): SallyError {
  const [what] = Object.entries(selection).map(([kind, value]) =>
    kind === 'id' ? `the login ${value}` : kind === 'user' ? `a login of ${value}` : 'any login',
  );
  return new SallyError('login.unknown', `no gateway that runs here has ${what}`, {
    hint: 'sally auth sessions shows those there are',
  });
}

function headOf({ server, page }: AuthReport): string {
  return `${server}, users see their own at ${page}\n`;
}

function sessionsTable({ sessions }: AuthReport): string {
  if (sessions.length === 0) return 'nobody is logged in\n';
  const rows = sessions.map(({ id, user, client, since: begin, lastUse, connections }) => [
    id,
    whoOf(user),
    printable(client.name ?? client.id, 40),
    ago(begin),
    ago(lastUse),
    connections
      .filter(({ state }) => state === 'connected')
      .map(({ provider }) => provider)
      .join(', '),
  ]);
  return table(['LOGIN', 'USER', 'CLIENT', 'SINCE', 'LAST USE', 'CONNECTED'], rows);
}

function providersTable({ providers }: AuthReport): string {
  const rows = providers.map(({ name, state, problem }) => [name, state, printable(problem ?? '', 200)]);
  return table(['PROVIDER', 'STATE', 'WHAT TO DO'], rows);
}

function connectionsTable({ sessions }: AuthReport): string {
  if (sessions.length === 0) return 'nobody is logged in\n';
  const rows = sessions.flatMap((session) => session.connections.map((connection) => rowOf(session, connection)));
  return table(['LOGIN', 'USER', 'PROVIDER', 'STATE', 'SCOPES', 'EXPIRES', 'LAST REFRESH', 'WHAT TO DO'], rows);
}

const STATES = { connected: 'connected', over: 'login needed', none: 'not connected' } as const;

function rowOf({ id, user }: SessionReport, connection: ConnectionReport): readonly string[] {
  const { provider, state, scopes, lastRefresh, repair } = connection;
  return [
    id,
    whoOf(user),
    provider,
    STATES[state],
    printable(scopes.join(' '), 60),
    expiryOf(connection),
    ago(lastRefresh),
    printable(repair ?? '', 200),
  ];
}

function expiryOf({ state, expires, renewed }: ConnectionReport): string {
  if (state === 'none') return '';
  if (renewed) return 'renewed by itself';
  if (expires === undefined) return 'not known';
  const left = Date.parse(expires) - Date.now();
  return left <= 0 ? 'over' : `in ${since(new Date(Date.now() - left).toISOString())}`;
}

/** The rest is there, and is not shown: that must not look as if it were not. */
function rest({ sessions, total }: AuthReport, user: string | undefined): string {
  const hidden = user === undefined ? total - sessions.length : 0;
  return hidden > 0 ? `about ${hidden} more; name a user to see his\n\n` : '\n';
}

function whoOf({ id, name, email }: SessionReport['user']): string {
  return printable(email ?? name ?? id, 60);
}

function ago(time: string | undefined): string {
  return time === undefined ? '' : `${since(time)} ago`;
}
