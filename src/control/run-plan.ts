import { given, type Log, SallyError, type Secret } from '../base/index.ts';
import { type BackendTarget, type GatewayPlan, planSingle, type ToolsPlan } from '../plan/index.ts';
import { parsePackageReference, type RunConfig } from '../resources/index.ts';
import type { ResolveSecrets } from '../secrets/index.ts';
import { type Environment, type Launch, readEnvFile, readEnvFolder, resolvePackage } from '../workloads/index.ts';
import { readCaBundle } from './ca-bundle.ts';
import { isConfined } from './confinement.ts';
import { incomingFlagsOf } from './incoming-config.ts';
import { planFlags } from './incoming-flags.ts';
import { remoteHeadersOf } from './remote-headers.ts';
import { toTarget } from './target.ts';
import { planExchange } from './token-exchange.ts';
import { wantedEngine } from './wanted-engine.ts';
import type { Workloads } from './workloads.ts';

export interface RunPlanParts {
  readonly workloads: Pick<Workloads, 'plan' | 'findEngine'>;
  readonly resolveSecrets: ResolveSecrets;
  readonly env: Environment;
  readonly log: Log;
  /** A client secret from the command line. It is for this run only and stands in no configuration. */
  readonly oidcClientSecret?: string | undefined;
  readonly tokenExchangeClientSecret?: string | undefined;
}

/** What the configuration of one workload means for a gateway. Files and secrets that it names are read now. */
export async function planRun(config: RunConfig, parts: RunPlanParts): Promise<GatewayPlan> {
  const ca = config.ca_bundle === undefined ? undefined : await readCaBundle(config.ca_bundle);
  const flags = await incomingFlagsOf(config.oidc_config, parts);
  const incoming = await planFlags({ ...flags, ...given({ oidcClientSecret: parts.oidcClientSecret }) }, parts.env, ca);
  const credential = await planExchange(config.token_exchange_config, parts, ca);
  const target = await targetOf(config, parts, ca);
  const tools = toolsOf(config);
  return {
    ...planSingle(config.name, target, { credential }, incoming),
    ...(tools ? { aggregation: { kind: 'single', tools } } : {}),
    oldSse: { shown: config.proxy_mode === 'sse', prefix: config.endpoint_prefix ?? '' },
    postOnly: config.stateless,
  };
}

async function targetOf(config: RunConfig, parts: RunPlanParts, ca: string | undefined): Promise<BackendTarget> {
  const { remote_url, transport, target_port: port, target_host: host, stateless } = config;
  const postOnly = stateless ? { postOnly: true } : {};
  if (remote_url !== undefined) {
    const kind = transport === 'sse' ? 'sse' : 'streamable-http';
    const headers = await remoteHeadersOf(config, parts);
    return { kind, url: remoteUrl(remote_url), addresses: rangeOf(config), headers, ...postOnly, ...given({ ca }) };
  }
  const env = await variablesOf(config, parts.resolveSecrets);
  const launch = await launchOf(config, env, parts);
  const planned = await parts.workloads.plan({ launch, transport, host, ...given({ port }) });
  return { ...toTarget(planned, config.session_mode === 'shared'), ...postOnly };
}

/** Where nothing was decided, in a file that somebody wrote, a package is a process and an image a container. */
async function launchOf(
  config: RunConfig,
  env: Variables,
  { env: ours, log, workloads }: RunPlanParts,
): Promise<Launch> {
  const { name, image = '' } = config;
  const reference = parsePackageReference(image);
  if (!reference || (config.runtime !== undefined && config.runtime !== 'process')) {
    const { containerLaunchOf } = await import('./container-launch.ts');
    const engine = await workloads.findEngine(wantedEngine(config));
    return await containerLaunchOf(config, env, { env: ours, log, engine, progress: (line) => log.info(line, {}) });
  }
  if (isConfined(config)) {
    const { confinedLaunchOf } = await import('./confined-launch.ts');
    return await confinedLaunchOf(config, env, { env: ours, progress: (line) => log.info(line, {}) });
  }
  const from = config.working_directory ?? '/';
  return { name, ...(await resolvePackage(reference, config.cmd_args, { from, env: ours })), env };
}

type Variables = Readonly<Record<string, string | Secret>>;

/** Files first, then what was said one by one, then secrets: the later wins. */
async function variablesOf(
  config: RunConfig,
  resolveSecrets: ResolveSecrets,
): Promise<Record<string, string | Secret>> {
  const { env_file, env_file_dir, env_vars, secrets } = config;
  return {
    ...(env_file === undefined ? {} : await readEnvFile(env_file)),
    ...(env_file_dir === undefined ? {} : await readEnvFolder(env_file_dir)),
    ...env_vars,
    ...(secrets.length === 0 ? {} : await resolveSecrets(secrets)),
  };
}

/**
 * Who types a URL means it, and his own network is allowed; link-local addresses never are. A URL that a registry gave is
 * somebody else's: by a name that he chose nobody gets us to call what only this machine or this network can reach.
 */
function rangeOf({ registry_server_name }: RunConfig): 'public' | 'private' {
  return registry_server_name === undefined ? 'private' : 'public';
}

function remoteUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && `${url.username}${url.password}` === '') return url.href;
  throw new SallyError('workload.reference_invalid', 'the URL of the server cannot be read, or carries a password', {
    hint: 'write https://HOST/PATH without user and password',
  });
}

/** Nothing when nothing is said: then tools pass through unseen. */
function toolsOf({ tools_filter, tools_override }: RunConfig): ToolsPlan | undefined {
  const overrides = Object.entries(tools_override).map(([tool, { name, description }]) => {
    return [tool, given({ name, description })] as const;
  });
  if (tools_filter.length === 0 && overrides.length === 0) return undefined;
  return { filter: new Set(tools_filter), overrides: new Map(overrides), excludeAll: false };
}
