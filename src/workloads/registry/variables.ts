import { printable, SallyError, Secret } from '../../base/index.ts';
import type { Declaration } from './entry.ts';

/** Asks the person at the terminal. */
export interface Ask {
  ask(question: string): Promise<string>;
  askHidden(question: string): Promise<string>;
}

export interface Settled {
  /** Plain values: defaults, and answers that are no secrets. */
  readonly values: Readonly<Record<string, string>>;
  /** Answers to keep, and defaults that are secrets. */
  readonly secrets: Readonly<Record<string, Secret>>;
}

const TRIES = 3;

/**
 * Finds a value for everything that a server declares. `given` are the names that any source has filled already: env files,
 * `-e`, `--secret`, what was kept from an earlier run. Those count before anything is asked or defaulted. What is required and
 * still missing is asked for, line by line, or named all at once where nobody can be asked.
 */
export async function settleVariables(
  declared: readonly Declaration[],
  given: ReadonlySet<string>,
  ask: Ask | undefined,
  as: 'variable' | 'header' = 'variable',
): Promise<Settled> {
  const values: Record<string, string> = {};
  const secrets: Record<string, Secret> = {};
  const missing: Declaration[] = [];
  for (const declaration of declared) {
    const { name, secret, required } = declaration;
    if (given.has(name) || Object.hasOwn(values, name) || Object.hasOwn(secrets, name)) continue;
    const value = declaration.default ?? (required && ask ? await answerTo(declaration, ask) : undefined);
    if (value === undefined) {
      if (required) missing.push(declaration);
    } else if (secret) secrets[name] = new Secret(value);
    else values[name] = value;
  }
  if (missing.length > 0) throw unset(missing, as);
  return { values, secrets };
}

async function answerTo(declaration: Declaration, ask: Ask): Promise<string | undefined> {
  const { secret, choices, template } = declaration;
  const question = questionFor(declaration);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const answer = secret ? await ask.askHidden(question) : await ask.ask(question);
    if (answer !== '' && (!choices || choices.includes(answer)))
      return template ? template.replace('{}', () => answer) : answer;
  }
  return undefined;
}

function questionFor({ name, description, choices }: Declaration): string {
  const about = description ? ` (${printable(description, 200)})` : '';
  const allowed = choices ? ` [${printable(choices.join(', '), 200)}]` : '';
  return `${name}${about}${allowed}: `;
}

function unset(missing: readonly Declaration[], as: 'variable' | 'header'): SallyError {
  const lines = missing.map(({ name, description }) =>
    description ? `${name}: ${printable(description, 200)}` : name,
  );
  return new SallyError(
    'registry.variable_missing',
    `the server needs values that were not given\n${lines.join('\n')}`,
    {
      hint: howToGive(missing[0], as),
    },
  );
}

function howToGive(first: Declaration | undefined, as: 'variable' | 'header'): string {
  const name = first?.name ?? 'NAME';
  if (as === 'header')
    return `store each with sally secret set NAME, and pass it with --remote-forward-headers-secret ${name}=NAME`;
  return first?.secret
    ? `store each with sally secret set NAME, and pass it with --secret NAME,target=${name}`
    : `pass each with -e, as in -e ${name}=VALUE`;
}
