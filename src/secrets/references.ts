import { printable, SallyError, type Secret } from '../base/index.ts';
import { checkSecretName, isSystemName } from './names.ts';

/** A secret by name, and what it becomes: a variable of the server, or a header. */
export interface SecretReference {
  readonly name: string;
  readonly target: string;
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A variable, or the name of a header (RFC 9110 §5.6.2). */
const TARGET = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/;

/** `--secret NAME,target=TARGET`, as a person writes it: our own names are refused, and the target is a variable. */
export function parseSecretFlag(text: string): SecretReference {
  const reference = parseSecretReference(text);
  checkSecretName(reference.name);
  if (VARIABLE.test(reference.target)) return reference;
  throw new SallyError('usage.invalid', `${JSON.stringify(printable(reference.target, 60))} cannot name a variable`, {
    hint: 'a variable has letters, digits and underscores, and starts with no digit',
  });
}

/** The same form in a stored configuration, where it may also name what we keep ourselves, or fill a header. */
export function parseSecretReference(text: string): SecretReference {
  const [, name, target] = /^([^,]+),target=(.*)$/s.exec(text) ?? [];
  if (name !== undefined && target !== undefined && TARGET.test(target)) return { name, target };
  throw new SallyError('usage.invalid', `${JSON.stringify(printable(text, 100))} is not a reference to a secret`, {
    hint: 'write NAME,target=VARIABLE: the name of the secret, and the variable in which the server finds it',
  });
}

/** References to values, by target. */
export type ResolveSecrets = (references: readonly string[]) => Promise<Record<string, Secret>>;

/** Follows references with `find`. Names every secret that has no value, not only the first. */
export async function resolveReferences(
  references: readonly string[],
  find: (name: string) => Promise<Secret | undefined>,
): Promise<Record<string, Secret>> {
  const found = new Map<string, Secret>();
  const missing: string[] = [];
  for (const { name, target } of references.map(parseSecretReference)) {
    if (found.has(target)) {
      throw new SallyError('usage.invalid', `two secrets are meant for ${target}`, { hint: 'name each target once' });
    }
    const value = await find(name);
    if (value) found.set(target, value);
    else missing.push(name);
  }
  if (missing.length === 0) return Object.fromEntries(found);
  const names = [...new Set(missing)].map((name) => printable(name, 200));
  throw new SallyError('secret.missing', `no value is stored for ${names.join(', ')}`, {
    hint: isSystemName(names[0] ?? '')
      ? 'it was kept for this workload and is gone; give the value again with sally update'
      : `store it with \`sally secret set ${names[0]}\`; \`sally secret list\` shows what is there`,
  });
}
