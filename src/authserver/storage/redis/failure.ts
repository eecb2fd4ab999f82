import { codeOf, SallyError } from '../../../base/index.ts';

/** Whether a command that failed was carried out: `no`, or nobody knows. */
export type Executed = 'no' | 'unknown';

/** Answers with which a server that does not serve right now turns a command down. */
const TURNED_DOWN =
  /^(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|OOM|BUSY|NOAUTH|NOPERM|WRONGPASS|MOVED|ASK|ERR|NOGOODSLAVE)\b/;
/** The library had no connection to write to. */
const NOT_SENT = /^(Stream isn't writeable|Cluster isn't ready|None of startup nodes|Failed to refresh slots)/;

export function executed(error: unknown): Executed {
  const text = messageOf(error);
  return TURNED_DOWN.test(text) || NOT_SENT.test(text) ? 'no' : 'unknown';
}

/** What waiting cannot mend: somebody has to change a setting. */
export function isPermanent(error: unknown): boolean {
  const isRefused = /\b(NOAUTH|NOPERM|WRONGPASS)\b|unknown command/.test(messageOf(error));
  return isRefused || /CERT|^ERR_TLS|^EPROTO$/.test(codeOf(error) ?? '');
}

export function isTimeout(error: unknown): boolean {
  return messageOf(error).endsWith('Command timed out');
}

/** A command that was carried out; whatever kept the replicas from confirming it, it must not count as turned down or not sent. */
export function unconfirmed(error: unknown): Error {
  return new Error(`the write was not confirmed: ${messageOf(error)}`);
}

/** A server that was the master once and takes no writes now. */
export function isDemoted(error: unknown): boolean {
  return messageOf(error).startsWith('READONLY');
}

/**
 * The library's errors carry the command with its arguments, passwords and rows among them, and a server may quote what it did
 * not understand. Only the words that can hold neither go on.
 */
export function withoutArguments(error: unknown): Error & { code?: string } {
  const plain: Error & { code?: string } = new Error(messageOf(error).replace(/,? with args beginning with.*$/s, ''));
  const code = codeOf(error);
  if (code !== undefined) plain.code = code;
  return plain;
}

export function unavailable(where: string, error: unknown): SallyError {
  const cause = error === undefined ? undefined : withoutArguments(error);
  return new SallyError('storage.unavailable', `the store at ${where} is not available`, {
    ...(cause ? { cause } : {}),
    hint: hintFor(error),
  });
}

/** What to look at, by what the server or the system said; the first that fits. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/sentinel.*(WRONGPASS|NOAUTH|NOPERM)/, 'the sentinels ask for another account; check sentinelAclUserConfig'],
  [/sentinel.*(none of the name|No such master)/, 'the sentinels know no such master; check masterName'],
  [/WRONGPASS/, 'the user name or password is wrong; check aclUserConfig'],
  [/NOAUTH/, 'it asks for a password; set aclUserConfig'],
  [/NOPERM/, 'the user may not run every command that is needed; docs/storage.md lists them'],
  [/unknown command/, 'it is too old; Redis 6.2 or later is needed, or Valkey'],
  [/READONLY/, 'it is a replica; name the master, or its sentinels'],
  [/MISCONF|OOM/, 'it cannot keep more; look after its disk and memory'],
  [/NOREPLICAS/, 'too few replicas are connected to it; min-replicas-to-write says how many it wants'],
  [/CERT|certificate/i, 'its certificate is not trusted; check caCertSecretRef'],
  [/EPROTO|ERR_SSL|wrong version number/, 'it does not speak TLS; leave tls out'],
  [/ECONNRESET/, 'it hangs up; it may speak TLS only'],
  [/ECONNREFUSED/, 'nothing listens there; see that it runs and that the address is right'],
];

function hintFor(error: unknown): string {
  const text = `${codeOf(error) ?? ''} ${messageOf(error)}`;
  return HINTS.find(([words]) => words.test(text))?.[1] ?? 'see that it runs and can be reached from here';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error ?? '');
}
