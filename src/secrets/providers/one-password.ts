import { execFile } from 'node:child_process';
import { codeOf, printable, SallyError, Secret } from '../../base/index.ts';
import { isOnePasswordReference } from '../names.ts';
import { readOnly, type SecretProvider } from './provider.ts';

export interface OnePasswordOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long `op` may take. With the desktop app a person has to agree first. */
  readonly within?: number;
}

const MAX_OUTPUT = 16 * 1024 * 1024;
/** What `op` needs of our environment, and nothing else: least of all the secrets of others. */
const PASSED =
  /^(OP_.*|PATH|HOME|USER|LOGNAME|LANG|LC_.*|TMPDIR|XDG_.*|DBUS_SESSION_BUS_ADDRESS|(HTTPS?|NO)_PROXY|SSL_CERT_(FILE|DIR)|SYSTEMROOT|APPDATA|LOCALAPPDATA|USERPROFILE)$/i;

/** 1Password through its own program, which knows service accounts (`OP_SERVICE_ACCOUNT_TOKEN`) and the desktop app. */
export function onePasswordProvider({ env, within = 60_000 }: OnePasswordOptions): SecretProvider {
  const passed = Object.fromEntries(Object.entries(env).filter(([name]) => PASSED.test(name)));

  /** An argument list and no shell: a reference stays one word, whatever is in it. */
  function op(args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { env: passed, timeout: within, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT } as const;
      const child = execFile('op', args, options, (error, stdout, stderr) => {
        if (error) reject(failed(error, stderr));
        else resolve(stdout);
      });
      child.stdin?.end();
    });
  }

  return {
    kind: '1password',
    ...readOnly('1Password', 'store the value with 1Password, and refer to it by op://VAULT/ITEM/FIELD'),
    describe: () => '1Password, by references such as op://VAULT/ITEM/FIELD',
    async get(name) {
      if (!isOnePasswordReference(name)) return undefined;
      try {
        return new Secret(await op(['read', '--no-newline', '--', name]));
      } catch (error) {
        if (error instanceof NotThere) return undefined;
        throw error;
      }
    },
    // Items only: to list their fields, op would have to hand over all values.
    async list() {
      const items: unknown = JSON.parse(await op(['item', 'list', '--format', 'json']));
      if (!Array.isArray(items)) throw failed(new Error('it listed no items'), '');
      return items
        .map(nameOf)
        .filter((name) => name !== undefined)
        .sort();
    },
  };
}

class NotThere extends Error {}

function failed(error: Error, stderr: string): Error {
  const says = printable(stderr.trim().split('\n', 1)[0] ?? '', 300);
  if (/isn't an item|isn't a vault|could not find|not found|no item/i.test(says)) return new NotThere(says);
  const missing = codeOf(error) === 'ENOENT';
  const late = 'killed' in error && error.killed === true;
  const why = missing
    ? 'the program op is not on the PATH'
    : late
      ? 'op did not answer in time'
      : `op says: ${says || error.message.split('\n', 1)[0]}`;
  return new SallyError('secret.unavailable', `1Password cannot be asked: ${why}`, {
    hint: missing
      ? 'install the 1Password CLI: https://developer.1password.com/docs/cli'
      : 'sign in with `op signin`, or set OP_SERVICE_ACCOUNT_TOKEN',
  });
}

function nameOf(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { title, vault } = item as { title?: unknown; vault?: { name?: unknown } };
  return typeof title === 'string' && typeof vault?.name === 'string' ? `op://${vault.name}/${title}` : undefined;
}
