import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { given, SallyError } from '../base/index.ts';
import { checkRunConfig, parseToolsOverride, RUN_CONFIG_VERSION, type RunConfig } from '../resources/index.ts';
import { parseSecretFlag } from '../secrets/index.ts';
import { type Environment, readEnvFile, readEnvFolder } from '../workloads/index.ts';
import { readCaBundle } from './ca-bundle.ts';
import { type ContainerFlags, containerFields } from './container-flags.ts';
import { oidcConfigOf } from './incoming-config.ts';
import { type IncomingFlags, planFlags } from './incoming-flags.ts';
import type { RemoteFlags } from './remote-flags.ts';
import type { SourceFields } from './source.ts';
import { exchangeConfigOf, type TokenExchangeFlags } from './token-exchange.ts';

/** What the flags of `run` and `update` say about a workload. A flag that was not given is not there. */
export interface RunFlags extends IncomingFlags, TokenExchangeFlags, ContainerFlags, RemoteFlags {
  readonly name?: string;
  readonly group?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly envFile?: string;
  readonly envFileDir?: string;
  readonly secret?: readonly string[];
  readonly label?: Readonly<Record<string, string>>;
  readonly tools?: readonly string[];
  readonly toolsOverride?: string;
  readonly transport?: RunConfig['transport'];
  readonly proxyMode?: RunConfig['proxy_mode'];
  readonly sessionMode?: RunConfig['session_mode'];
  readonly proxyPort?: number;
  readonly host?: string;
  readonly targetHost?: string;
  readonly targetPort?: number;
  readonly endpointPrefix?: string;
  readonly stateless?: boolean;
  readonly trustProxyHeaders?: boolean;
  readonly allowedHost?: readonly string[];
  readonly allowedOrigin?: readonly string[];
  readonly insecureAllowAnonymous?: boolean;
  readonly caBundle?: string;
}

/** A new configuration: what the source decides, then what the flags say. */
export async function configure(
  source: SourceFields,
  flags: RunFlags,
  args: readonly string[],
  env: Environment,
): Promise<RunConfig> {
  const folder = source.image === undefined ? {} : { working_directory: resolve('.') };
  const base = { schema_version: RUN_CONFIG_VERSION, ...source, ...folder };
  return await withFlags(base, flags, args.length > 0 ? args : undefined, env, 'the command line');
}

/** A configuration from elsewhere. The folder it names may not be on this machine; most packages do not care. */
export async function adopt(config: RunConfig): Promise<RunConfig> {
  if (config.image === undefined) return config;
  const { working_directory: folder } = config;
  if (folder !== undefined && (await isFolder(folder))) return config;
  if (/^go:\/\/\.\.?\//.test(config.image)) {
    throw new SallyError(
      'config.unreadable',
      `${config.image} counts from the folder ${folder ?? ''}, which is not here`,
      {
        hint: 'correct working_directory in the file',
      },
    );
  }
  return { ...config, working_directory: resolve('.') };
}

/** A known configuration with some things said anew. Maps get entries added; lists and single values are replaced. */
export async function reconfigure(
  config: RunConfig,
  flags: RunFlags,
  args: readonly string[] | undefined,
  env: Environment,
): Promise<RunConfig> {
  // What the tag of the image means is found out anew.
  const { image_digest: _, ...asked } = config;
  return await withFlags(asked, flags, args, env, 'the new form of the workload');
}

async function withFlags(
  base: Partial<RunConfig>,
  flags: RunFlags,
  args: readonly string[] | undefined,
  env: Environment,
  place: string,
): Promise<RunConfig> {
  // First, since what the rules of these flags say is clearer than what a schema says.
  const incoming = await planFlags(flagsFor(flags, base), env, undefined);
  const exchange = exchangeConfigOf(flags, { env, incoming, earlier: base.token_exchange_config });
  // Another profile takes the place of what an earlier one said.
  const { permission_profile: _, ...others } = base;
  const config = checkRunConfig(
    {
      ...(flags.permissionProfile === undefined ? base : others),
      ...given({
        name: flags.name,
        group: flags.group,
        cmd_args: args,
        transport: flags.transport,
        proxy_mode: flags.proxyMode,
        session_mode: flags.sessionMode,
        host: flags.host,
        port: flags.proxyPort,
        target_host: flags.targetHost,
        target_port: flags.targetPort,
        allowed_hosts: flags.allowedHost,
        allowed_origins: flags.allowedOrigin,
        insecure_allow_anonymous: flags.insecureAllowAnonymous,
        trust_proxy_headers: flags.trustProxyHeaders,
        endpoint_prefix: flags.endpointPrefix,
        stateless: flags.stateless,
        ca_bundle: absolute(flags.caBundle),
        env_file: absolute(flags.envFile),
        env_file_dir: absolute(flags.envFileDir),
        env_vars: flags.env && { ...base.env_vars, ...flags.env },
        secrets: flags.secret && withSecrets(base.secrets ?? [], flags.secret.map(checkedSecret)),
        container_labels: flags.label && { ...base.container_labels, ...flags.label },
        tools_filter: flags.tools,
        tools_override: flags.toolsOverride === undefined ? undefined : await readToolsOverride(flags.toolsOverride),
        token_exchange_config: exchange,
        ...containerFields(flags),
      }),
      ...(incoming.kind === 'anonymous' ? {} : { oidc_config: oidcConfigOf(flags, env, base.oidc_config) }),
    },
    place,
  );
  await readOnce(config);
  return config;
}

/** Where a configuration is changed, flags that go together need not all be said again. */
function flagsFor(flags: IncomingFlags, { oidc_config: before }: Partial<RunConfig>): IncomingFlags {
  return {
    ...given({
      oidcIssuer: before?.issuer,
      oidcAudience: before?.audience,
      oidcClientId: before?.client_id,
      oidcInsecureAllowHttp: before?.insecure_allow_http || undefined,
    }),
    ...flags,
  };
}

/** Files that are read at each start are read now too: who makes a mistake should hear of it at once. */
async function readOnce({ env_file, env_file_dir, ca_bundle }: RunConfig): Promise<void> {
  if (env_file !== undefined) await readEnvFile(env_file);
  if (env_file_dir !== undefined) await readEnvFolder(env_file_dir);
  if (ca_bundle !== undefined) await readCaBundle(ca_bundle);
}

/** Refused by the rules for people: what we keep ourselves is nothing to refer to. */
function checkedSecret(text: string): string {
  const { name, target } = parseSecretFlag(text);
  return `${name},target=${target}`;
}

/** One value for each target; the later wins. */
function withSecrets(earlier: readonly string[], added: readonly string[]): readonly string[] {
  const targetOf = (reference: string): string => reference.replace(/^.*,target=/, '');
  const targets = new Set(added.map(targetOf));
  return [...earlier.filter((reference) => !targets.has(targetOf(reference))), ...added];
}

async function readToolsOverride(file: string): Promise<RunConfig['tools_override']> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new SallyError('config.unreadable', `${file} cannot be read`, { cause, hint: 'correct the path' });
  });
  return parseToolsOverride(text, file);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

function absolute(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path);
}
