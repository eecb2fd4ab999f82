import { SallyError } from '../base/index.ts';
import { checkRunConfig, type RunConfig } from '../resources/index.ts';
import { readEnvFile, readEnvFolder } from '../workloads/index.ts';
import type { Ask, RunInputs } from '../workloads/registry/index.ts';
import { type Secrets, settleDeclared } from './chosen/index.ts';

export interface DeclaredParts {
  readonly secrets: Secrets;
  /** Absent where nobody can be asked. */
  readonly ask?: Ask;
}

/**
 * A configuration with a value for everything that the registry says the server needs. What files, flags and secrets give
 * counts first; then defaults; then the person at the terminal is asked. Secrets are kept in the store and referred to.
 */
export async function withDeclared(config: RunConfig, found: RunInputs, parts: DeclaredParts): Promise<RunConfig> {
  const { name: workload, header_forward } = config;
  checkTools(config, found);
  const variables = await settleDeclared(found.env, { ...parts, workload, given: await variablesGiven(config) });
  const plain = header_forward?.add_plaintext_headers ?? {};
  const secret = header_forward?.add_headers_from_secret ?? {};
  const open = unfilledHeaders(found, [...Object.keys(plain), ...Object.keys(secret)], config);
  const headers = await settleDeclared(open, { ...parts, workload, given: new Set(), as: 'header' });
  const hasHeaders = open.length > 0 || header_forward !== undefined;
  const filled = {
    ...config,
    env_vars: { ...variables.values, ...config.env_vars },
    secrets: [...config.secrets, ...variables.references],
    ...(hasHeaders
      ? {
          header_forward: {
            add_plaintext_headers: { ...headers.values, ...plain },
            add_headers_from_secret: { ...Object.fromEntries(headers.references.map(headerAndSecret)), ...secret },
          },
        }
      : {}),
  };
  return checkRunConfig(filled, `what ${found.registry} says about ${found.name}`);
}

/** Names of headers are the same in capitals; a bearer token is the header Authorization. */
function unfilledHeaders(
  { headers }: RunInputs,
  said: readonly string[],
  { remote_auth_config }: RunConfig,
): RunInputs['headers'] {
  const filled = new Set(said.map((header) => header.toLowerCase()));
  if (remote_auth_config) filled.add('authorization');
  return headers.filter(({ name }) => !filled.has(name.toLowerCase()));
}

async function variablesGiven({ env_file, env_file_dir, env_vars, secrets }: RunConfig): Promise<ReadonlySet<string>> {
  return new Set([
    ...Object.keys(env_file === undefined ? {} : await readEnvFile(env_file)),
    ...Object.keys(env_file_dir === undefined ? {} : await readEnvFolder(env_file_dir)),
    ...Object.keys(env_vars),
    ...secrets.map((reference) => headerAndSecret(reference)[0]),
  ]);
}

/** `NAME,target=TARGET`, the target first. */
function headerAndSecret(reference: string): readonly [string, string] {
  const at = reference.indexOf(',target=');
  return [reference.slice(at + ',target='.length), reference.slice(0, at)];
}

/** A filter for a tool that the server does not have would hide everything, and nobody would know why. */
function checkTools({ tools_filter, tools_override }: RunConfig, { name, tools }: RunInputs): void {
  if (tools.length === 0) return;
  const renamed = new Map(Object.entries(tools_override).map(([own, { name: shown }]) => [shown ?? own, own]));
  const own = [...Object.keys(tools_override), ...tools_filter.map((shown) => renamed.get(shown) ?? shown)];
  const strangers = [...new Set(own.filter((tool) => !tools.includes(tool)))];
  if (strangers.length === 0) return;
  throw new SallyError('usage.invalid', `${name} has no tool ${strangers.join(', ')}`, {
    hint: `its tools are ${tools.join(', ')}`,
  });
}
