import { given } from '../../../base/index.ts';
import type { Declaration, MissingArgument } from '../entry.ts';
import { at, flag, list, matching, object, type Place, required, text, texts, WrongEntry } from './place.ts';

/** Inputs of the official registry format: values, defaults and `{variables}` that somebody has to fill. */

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Headers that belong to the connection or to the protocol, and to nobody else. */
const OURS = /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|accept|cookie|mcp-.*|proxy-.*)$/i;

/** Variables that make a program load or fetch something else: with one of these a well-known package would be another. */
const LOADERS =
  /^(LD_.*|DYLD_.*|NODE_.*|NPM_.*|PYTHON.*|PIP_.*|UV_.*|GO[A-Z]+|GIT_.*|PERL5.*|RUBY.*|BASH_ENV|ENV|PATH|HOME|SHELL|(HTTPS?|ALL|NO)_PROXY|SSL_CERT_.*|SALLYPORT_.*)$/i;

export function variables(place: Place): readonly Declaration[] {
  return list(place).map((item) => {
    const found = declaration(item, VARIABLE_NAME, 'cannot name a variable');
    const filled = found.default !== undefined || found.template !== undefined;
    if (filled && LOADERS.test(found.name))
      throw new WrongEntry(at(item, 'name'), 'names a variable that an entry may not fill');
    return found;
  });
}

export function headers(place: Place): readonly Declaration[] {
  return list(place).map((item) => {
    const found = declaration(item, HEADER_NAME, 'cannot name a header');
    if (OURS.test(found.name)) throw new WrongEntry(at(item, 'name'), 'names a header that an entry may not set');
    return found;
  });
}

function declaration(place: Place, grammar: RegExp, says: string): Declaration {
  const name = required(at(place, 'name'), matching(at(place, 'name'), grammar, says));
  const filled = fill(place);
  const choices = texts(at(place, 'choices'));
  return {
    name,
    required: flag(at(place, 'isRequired')) || flag(at(place, 'required')) || filled.needed !== undefined,
    secret: flag(at(place, 'isSecret')) || flag(at(place, 'secret')) || (filled.secret ?? false),
    ...given({
      description: text(at(place, 'description')) ?? filled.description,
      default: filled.value,
      choices: choices.length > 0 ? choices : undefined,
      template: filled.template,
    }),
  };
}

/** What an input is worth without asking anybody, or what has to be asked. */
interface Filled {
  readonly value?: string;
  readonly needed?: string;
  readonly template?: string;
  readonly secret?: boolean;
  readonly description?: string;
}

function fill(place: Place): Filled {
  const fixed = text(at(place, 'value')) ?? text(at(place, 'default'));
  if (fixed === undefined) return {};
  const map = object(at(place, 'variables'));
  if (!map) return { value: fixed };
  const open: { readonly name: string; readonly place: Place }[] = [];
  const value = fixed.replaceAll(/\{([A-Za-z0-9_.-]+)\}/g, (whole, name: string) => {
    const variable = object(at(map, name));
    if (!variable) return whole; // the format says that an unknown name stays as it is
    const known = text(at(variable, 'value')) ?? text(at(variable, 'default'));
    if (known !== undefined) return known;
    open.push({ name, place: variable });
    return '{}';
  });
  const [first, second] = open;
  if (!first) return { value };
  const about = { needed: first.name, secret: open.some((one) => flag(at(one.place, 'isSecret'))) };
  // One gap can be asked for by itself; with several the person has to write the whole value.
  if (second || value.split('{}').length !== 2) return { ...about, description: `written as ${fixed}` };
  return { ...about, template: value, ...given({ description: text(at(first.place, 'description')) }) };
}

export interface Arguments {
  readonly args: readonly string[];
  readonly missing: readonly MissingArgument[];
}

/** Positional and named arguments in a row. What only the user can know is named, not guessed. */
export function argumentsOf(place: Place): Arguments {
  const args: string[] = [];
  const missing: MissingArgument[] = [];
  for (const item of list(place)) {
    const kind = text(at(item, 'type')) ?? 'positional';
    if (kind !== 'positional' && kind !== 'named')
      throw new WrongEntry(at(item, 'type'), 'must be positional or named');
    const flagName = kind === 'named' ? required(at(item, 'name'), text(at(item, 'name'), 200)) : undefined;
    const { value, needed } = fill(item);
    if (value !== undefined) args.push(...asWords(item, flagName, value));
    else if (needed !== undefined || flag(at(item, 'isRequired'))) {
      const name = flagName ?? text(at(item, 'valueHint'), 200) ?? text(at(item, 'name'), 200) ?? 'argument';
      missing.push({ name, ...given({ description: text(at(item, 'description')) }) });
    }
  }
  return { args, missing };
}

function asWords(item: Place, flagName: string | undefined, value: string): readonly string[] {
  if (flagName === undefined) return [value];
  if (text(at(item, 'format')) !== 'boolean') return [flagName, value];
  return value === 'true' ? [flagName] : [];
}
