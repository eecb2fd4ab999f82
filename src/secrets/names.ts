import { printable, SallyError } from '../base/index.ts';

/** What we keep for ourselves in the store of the user: values asked for once, tokens of servers. */
const SYSTEM = '__sally_';
const LONGEST = 200;

export type SystemScope = 'workload' | 'auth' | 'setup';

/** A name of ours, such as `__sally_workload_notes/API_KEY`. The slash is in no workload name, so no two owners share one. */
export function systemName(scope: SystemScope, owner: string, key: string): string {
  return `${SYSTEM}${scope}_${owner}/${key}`;
}

/** Also in other letters: a keyring may not tell them apart, and the environment does not. */
export function isSystemName(name: string): boolean {
  return name.toLowerCase().startsWith(SYSTEM);
}

/** Whether the name is one of ours that was made for this owner. */
export function belongsTo(name: string, scope: SystemScope, owner: string): boolean {
  return name.startsWith(systemName(scope, owner, ''));
}

/** `op://vault/item/field`, maybe with a section and with what `op` calls attributes. Spaces are common in it. */
const ONE_PASSWORD = /^op:\/\/[^/\p{Cc},]+\/[^/\p{Cc},]+(?:\/[^/\p{Cc},]+){1,2}$/u;

export function isOnePasswordReference(name: string): boolean {
  return name.length <= 1_000 && ONE_PASSWORD.test(name);
}

/** A name that people may give a secret. It stands in command lines, variables and files and must be harmless there. */
export function checkSecretName(name: string): void {
  const problem = whyNoName(name);
  if (problem === undefined) return;
  throw new SallyError('usage.invalid', `${JSON.stringify(printable(name, 60))} cannot name a secret: ${problem}`, {
    hint: 'use letters, digits, dots, dashes and underscores, or op://VAULT/ITEM/FIELD with the provider 1password',
  });
}

function whyNoName(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (isSystemName(name)) return `names that start with ${SYSTEM} are kept for Sallyport itself`;
  if (name.startsWith('op://')) return isOnePasswordReference(name) ? undefined : 'it is not op://VAULT/ITEM/FIELD';
  if (name.length > LONGEST) return `it has more than ${LONGEST} characters`;
  if (name.startsWith('-')) return 'it starts like a flag';
  const stranger = /[^A-Za-z0-9._-]/u.exec(name);
  return stranger ? `${JSON.stringify(printable(stranger[0]))} is not allowed` : undefined;
}
