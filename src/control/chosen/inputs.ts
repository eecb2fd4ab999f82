import {
  type Ask,
  type Declaration,
  type Registry,
  type RunInputs,
  settleVariables,
  toRunInputs,
  type WayOptions,
} from '../../workloads/registry/index.ts';
import type { Secrets } from './secrets.ts';

/** Finds a server in the registry for `run`. Nothing when it is not there; an error when nobody can know. */
export function lookUpIn(registry: Registry, options: WayOptions): (name: string) => Promise<RunInputs | undefined> {
  return async (name) => {
    const entry = await registry.find(name);
    return entry && toRunInputs(entry, registry.label, options);
  };
}

export interface SettleParts {
  readonly workload: string;
  readonly secrets: Secrets;
  /** Names that other sources have filled: env files, `-e`, targets of `--secret`, header flags. Merge them all first. */
  readonly given: ReadonlySet<string>;
  /** Absent where nobody can be asked. */
  readonly ask?: Ask;
  /** What the values become, which decides how one is given by hand. */
  readonly as?: 'variable' | 'header';
}

/** What a configuration needs for the variables or headers that an entry declares. */
export interface SettledInputs {
  readonly values: Readonly<Record<string, string>>;
  /** `NAME,target=TARGET`: secrets are kept in the store of the user, and only referred to. */
  readonly references: readonly string[];
}

/**
 * Fills what an entry declares. A secret that was typed in for this workload before is used again; a new one is kept under a
 * name of this workload, so that two workloads of one server do not share it.
 */
export async function settleDeclared(declared: readonly Declaration[], parts: SettleParts): Promise<SettledInputs> {
  const { workload, secrets, given, ask, as } = parts;
  const kept = new Map<string, string>();
  for (const { name, secret } of declared) {
    const reference = secret && !given.has(name) ? await secrets.keptFor(workload, name) : undefined;
    if (reference !== undefined) kept.set(name, reference);
  }
  const settled = await settleVariables(declared, new Set([...given, ...kept.keys()]), ask, as);
  const fresh = await secrets.keepFor(workload, settled.secrets);
  return { values: settled.values, references: [...kept.values(), ...fresh] };
}
