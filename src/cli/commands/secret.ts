import { Argument, type Command, Option } from 'commander';
import { printable, SallyError, Secret } from '../../base/index.ts';
import type { SecretParts, Secrets } from '../../control/chosen/index.ts';
import type { KeySource, ProviderName } from '../../settings/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json } from '../output.ts';
import { createTerminal } from '../terminal.ts';

const MAX_VALUE = 1024 * 1024;
const PROVIDERS = ['encrypted', 'keyring', 'environment', '1password'] as const satisfies readonly ProviderName[];
const KEYS = ['keyring', 'file', 'password'] as const satisfies readonly KeySource[];

interface Format {
  readonly format: OutputFormat;
}

export function addSecretCommands(program: Command, shell: Shell): void {
  const secret = program.command('secret').description('keep API keys and passwords for the servers that you run');

  secret
    .command('set')
    .description('store a secret; its value is read from stdin, or asked for without showing it')
    .argument('<name>', 'name of the secret')
    .addHelpText(
      'after',
      examples(
        ['secret set notes-key', 'asks for the value, without showing it'],
        ['secret set notes-key < key.txt', 'from a file'],
      ),
    )
    // Commander's own complaint would repeat the value that somebody wrote here.
    .allowExcessArguments()
    .action(async (name: string, _options: object, command: Command) => {
      if (command.args.length > 1) throw valueOnCommandLine(name);
      const { provider } = await openSecrets(shell);
      const { checkSecretName } = await import('../../secrets/index.ts');
      checkSecretName(name);
      if (!provider.canWrite) await provider.set(name, new Secret('')); // refuses, before anything is asked
      await provider.set(name, await readValue(name, shell));
    });

  secret
    .command('get')
    .description('print the value that a server would get')
    .argument('<name>', 'name of the secret')
    .addOption(formatOption())
    .addHelpText('after', examples(['secret get notes-key', 'shows it on the screen']))
    .action(async (name: string, { format }: Format) => {
      const value = await (await openSecrets(shell)).find(name);
      if (!value) throw missing(name);
      shell.out(format === 'json' ? json({ name, value: value.reveal() }) : `${value.reveal()}\n`);
    });

  secret
    .command('list')
    .alias('ls')
    .description('list the names, never the values')
    .addOption(formatOption())
    .addHelpText('after', examples(['secret list', 'the names']))
    .action(async ({ format }: Format) => {
      const { provider } = await openSecrets(shell);
      const names = await provider.list();
      if (format === 'json') return shell.out(json(names.map((name) => ({ name }))));
      if (names.length > 0) return shell.out(names.map((name) => `${printable(name)}\n`).join(''));
      shell.out(
        `There are no secrets in ${provider.describe()}.\n${provider.canWrite ? 'Add one with: sally secret set NAME\n' : ''}`,
      );
    });

  secret
    .command('delete')
    .alias('rm')
    .description('forget a secret')
    .argument('<name>', 'name of the secret')
    .addHelpText('after', examples(['secret delete notes-key', 'servers that use it do not start any more']))
    .action(async (name: string) => {
      if (!(await (await openSecrets(shell)).provider.delete(name))) throw missing(name);
    });

  secret
    .command('provider')
    .description('show where secrets are kept, or choose another place')
    .addArgument(new Argument('[name]', 'where to keep them from now on').choices(PROVIDERS))
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples(
        ['secret provider', 'where they are kept'],
        ['secret provider environment', 'take them from SALLYPORT_SECRET_NAME'],
      ),
    )
    .action(async (name: ProviderName | undefined, { format }: Format) => {
      if (name !== undefined) return choose({ provider: name }, shell, format);
      const { choice, provider } = await openSecrets(shell);
      if (format === 'json')
        return shell.out(json({ ...choice, canWrite: provider.canWrite, where: provider.describe() }));
      shell.out(`${choice.provider}: ${provider.describe()}\n`);
    });

  secret
    .command('setup')
    .description('choose where secrets are kept, and try it out')
    .addOption(new Option('--provider <name>', 'where to keep them; asked for on a terminal').choices(PROVIDERS))
    .addOption(
      new Option('--key <place>', 'where the password of the encrypted file is kept; found out when left out').choices(
        KEYS,
      ),
    )
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples(
        ['secret setup', 'asks'],
        ['secret setup --provider encrypted --key file', 'without keyring and terminal'],
      ),
    )
    .action(
      async ({ provider, key, format }: Format & { readonly provider?: ProviderName; readonly key?: KeySource }) => {
        const chosen = provider ?? (key ? 'encrypted' : await askProvider(shell));
        await choose({ provider: chosen, ...(key === undefined ? {} : { key }) }, shell, format);
      },
    );
}

export async function openSecrets(shell: Shell): Promise<Secrets> {
  const { openSecrets: open } = await import('../../control/chosen/index.ts');
  return await open(secretParts(shell));
}

/** What opens the secrets of the user: his environment, and himself when he is there. */
function secretParts(shell: Shell): SecretParts {
  const terminal = createTerminal(shell.stdin(), shell.err);
  return { env: shell.env, ...(terminal.canAsk ? { askHidden: terminal.askHidden } : {}) };
}

async function choose(
  choice: { readonly provider: ProviderName; readonly key?: KeySource },
  shell: Shell,
  format: OutputFormat,
): Promise<void> {
  const { chooseProvider } = await import('../../control/chosen/index.ts');
  const { settings, provider } = await chooseProvider(choice, secretParts(shell));
  if (format === 'json')
    return shell.out(json({ ...settings, canWrite: provider.canWrite, where: provider.describe() }));
  shell.out(`Secrets are kept in ${provider.describe()}.\n${aboutKey(settings.key)}`);
}

function aboutKey(key: KeySource | undefined): string {
  switch (key) {
    case 'keyring':
      return 'Its password is random and lies in the keyring of this system.\n';
    case 'file':
      return 'Its password is random and lies in a file beside it: keep the two apart in backups.\n';
    case 'password':
      return 'Its password is asked for, or read from SALLYPORT_SECRETS_PASSWORD_FILE.\n';
    case undefined:
      return '';
  }
}

/** Where nobody can be asked, the encrypted file is the one that works everywhere. */
async function askProvider(shell: Shell): Promise<ProviderName> {
  const terminal = createTerminal(shell.stdin(), shell.err);
  if (!terminal.canAsk) return 'encrypted';
  const { parseProvider } = await import('../../control/chosen/index.ts');
  return parseProvider(
    (await terminal.ask(`Where to keep secrets (${PROVIDERS.join(', ')}) [encrypted]: `)) || 'encrypted',
    'your answer',
  );
}

/** Never from the command line, which every user of the machine can read. */
async function readValue(name: string, shell: Shell): Promise<Secret> {
  const terminal = createTerminal(shell.stdin(), shell.err);
  const text = terminal.canAsk ? await terminal.askHidden(`Value of ${name}: `) : await terminal.readAll(MAX_VALUE);
  const value = text.replace(/\r?\n$/, '');
  if (value !== '') return new Secret(value);
  throw new SallyError('usage.invalid', 'the value is empty', { hint: `pipe it in: sally secret set ${name} < FILE` });
}

function valueOnCommandLine(name: string): SallyError {
  return new SallyError('usage.invalid', 'a value is never given on the command line, where other users can read it', {
    hint: `take that one out of the history of your shell, and run: sally secret set ${printable(name, 60)}`,
  });
}

function missing(name: string): SallyError {
  return new SallyError('secret.missing', `there is no secret ${printable(name, 200)}`, {
    hint: 'sally secret list shows the names',
  });
}
