import type { Finding } from '../validate/problem.ts';
import { isMapping } from '../walk.ts';
import { exchangeFromToolHive } from './token-exchange.ts';

/** A run configuration of ToolHive in our words, with what was left out and what must not be. */
export interface Translated {
  readonly value: Readonly<Record<string, unknown>>;
  /** Fields that mean nothing here. Nobody is less protected without them. */
  readonly ignored: readonly string[];
  readonly problems: readonly Finding[];
}

type Fields = Readonly<Record<string, unknown>>;

/** The same word, the same meaning. */
const SAME = new Set([
  ...[
    'group',
    'remote_url',
    'registry_server_name',
    'registry_url',
    'cmd_args',
    'transport',
    'proxy_mode',
    'host',
    'port',
  ],
  ...['target_host', 'target_port', 'allowed_origins', 'publish', 'volumes', 'secrets', 'permission_profile'],
  ...['permission_profile_name_or_path', 'isolate_network', 'allow_docker_gateway', 'trust_proxy_headers'],
  ...['endpoint_prefix', 'stateless', 'tools_filter', 'tools_override', 'header_forward'],
]);

/** Read below, in another form. */
const READ = new Set([
  ...[
    'schema_version',
    'name',
    'base_name',
    'container_name',
    'image',
    'env_vars',
    'container_labels',
    'ignore_config',
  ],
  ...['runtime_config', 'oidc_config', 'thv_ca_bundle', 'jwks_auth_token_file', 'middleware_configs'],
  ...['token_exchange_config', 'remote_auth_config'],
  'strict_protocol_validation', // we are strict in any case
]);

/** Who relies on one of these would be less protected, or locked out, without it. */
const NEEDED = new Set([
  ...[
    'authz_config',
    'authz_config_path',
    'audit_config',
    'audit_config_path',
    'validating_webhooks',
    'mutating_webhooks',
  ],
  ...['additional_middleware_configs', 'upstream_swap_config', 'aws_sts_config', 'embedded_auth_server_config'],
  'rate_limit_config',
]);

/** Stages that we have too, and that other fields of the file or our own defaults describe. */
const COVERED_STAGES = new Set([
  ...['bodylimit', 'origin', 'auth', 'mcp-parser', 'usagemetrics', 'recovery', 'tool-filter', 'tool-call-filter'],
  ...['header-forward', 'strip-auth', 'telemetry', 'tokenexchange'],
]);

/** Set for the server at each start, so what stands in the file is old. */
const DERIVED_VARIABLES = new Set(['MCP_TRANSPORT', 'MCP_PORT', 'FASTMCP_PORT', 'MCP_HOST']);

export function fromToolHive(raw: Fields): Translated {
  const problems: Finding[] = [];
  const ignored: string[] = [];
  const refuse = (path: Finding['path'], message: string, hint?: string): void => {
    problems.push({ path, message, ...(hint === undefined ? {} : { hint }) });
  };

  const value: Record<string, unknown> = { name: raw.name || raw.base_name || raw.container_name };
  for (const [field, content] of Object.entries(raw)) {
    if (isEmpty(content) || READ.has(field)) continue;
    if (SAME.has(field)) value[field] = content;
    else if (NEEDED.has(field)) refuse([field], 'cannot be honoured by this version, and is not left out in silence');
    else ignored.push(field);
  }

  if (isEmpty(raw.remote_url)) value.image = raw.image;
  if (typeof raw.image === 'string' && raw.image.startsWith('toolhivelocal/'))
    refuse(
      ['image'],
      'was built on another machine and is nowhere to be fetched',
      'write the npx://, uvx:// or go:// reference it was built from',
    );

  value.env_vars = without(raw.env_vars, (name) => DERIVED_VARIABLES.has(name));
  value.container_labels = without(raw.container_labels, (name) => /^toolhive(-|$)/.test(name));
  if (isMapping(raw.ignore_config)) {
    const { LoadGlobal, PrintOverlays } = raw.ignore_config;
    value.ignore_config = defined({ load_global: LoadGlobal, print_overlays: PrintOverlays });
  }
  if (isMapping(raw.runtime_config)) {
    const { builder_image, additional_packages, ...rest } = raw.runtime_config;
    const kept = defined({ builder_image: builder_image || undefined, additional_packages });
    if (!isEmpty(kept)) value.runtime_config = kept;
    ignored.push(
      ...Object.keys(rest)
        .filter((field) => !isEmpty(rest[field]))
        .map((field) => `runtime_config.${field}`),
    );
  }
  if (!isEmpty(raw.oidc_config) && isMapping(raw.oidc_config)) value.oidc_config = oidcOf(raw.oidc_config, raw, refuse);
  if (!isEmpty(raw.token_exchange_config)) value.token_exchange_config = exchangeFromToolHive(raw, refuse);
  value.ca_bundle =
    raw.thv_ca_bundle || (isMapping(raw.oidc_config) ? raw.oidc_config.CACertPath : undefined) || undefined;
  if (!isEmpty(raw.remote_auth_config) && isMapping(raw.remote_auth_config))
    value.remote_auth_config = remoteAuthOf(raw.remote_auth_config, refuse);
  refuseStages(raw, refuse);
  return { value: defined(value), ignored, problems };
}

function oidcOf(
  oidc: Fields,
  raw: Fields,
  refuse: (path: Finding['path'], message: string, hint?: string) => void,
): Fields {
  if (!isEmpty(oidc.ClientSecret))
    refuse(
      ['oidc_config', 'ClientSecret'],
      'is a secret in plain text',
      'take it out, and import the file with client_secret_ref: file:/PATH',
    );
  const text = (value: unknown): unknown => (isEmpty(value) ? undefined : value);
  return defined({
    issuer: text(oidc.Issuer),
    audience: text(oidc.Audience),
    client_id: text(oidc.ClientID),
    jwks_url: text(oidc.JWKSURL),
    introspection_url: text(oidc.IntrospectionURL),
    scopes: text(oidc.Scopes),
    insecure_allow_http: oidc.InsecureAllowHTTP,
    jwks_allow_private_ip: oidc.AllowPrivateIP,
    jwks_auth_token_file: text(oidc.AuthTokenFile) ?? text(raw.jwks_auth_token_file),
    resource_url: text(oidc.ResourceURL),
  });
}

/** How a login would go, not that there is one. */
const LOGIN_MANNERS = new Set(['timeout', 'callback_port', 'use_pkce', 'skip_browser', 'scope_param_name']);

/** A bearer token counts before any login, there as here; it is a reference, `NAME,target=bearer_token`. */
function remoteAuthOf(auth: Fields, refuse: (path: Finding['path'], message: string, hint?: string) => void): unknown {
  const { bearer_token, bearer_token_file, ...login } = auth;
  if (!isEmpty(bearer_token_file)) return { bearer_token_ref: `file:${String(bearer_token_file)}` };
  if (!isEmpty(bearer_token)) {
    const [, secret] = /^([^,\s]+),target=/.exec(String(bearer_token)) ?? [];
    if (secret !== undefined) return { bearer_token_ref: `secret:${secret}` };
    refuse(['remote_auth_config', 'bearer_token'], 'is a secret in plain text', 'write bearer_token_file in its place');
  }
  for (const [field, content] of Object.entries(login)) {
    if (isEmpty(content) || LOGIN_MANNERS.has(field)) continue;
    refuse(['remote_auth_config', field], 'cannot be honoured by this version, and is not left out in silence');
  }
  return undefined;
}

/** The list of stages repeats other fields of the file. Where it says more than they do, that must not get lost. */
function refuseStages(raw: Fields, refuse: (path: Finding['path'], message: string, hint?: string) => void): void {
  const stages = Array.isArray(raw.middleware_configs) ? raw.middleware_configs : [];
  for (const [index, stage] of stages.entries()) {
    const { type, parameters } = isMapping(stage) ? stage : {};
    const path = ['middleware_configs', index] as const;
    if (typeof type !== 'string' || !COVERED_STAGES.has(type))
      refuse(path, `asks for a stage (${JSON.stringify(type)}) that this version does not have`);
    else if (type === 'auth' && isEmpty(raw.oidc_config) && /"issuer":"./i.test(JSON.stringify(parameters ?? {})))
      refuse(path, 'asks callers for tokens, and oidc_config beside it does not', 'write oidc_config');
    else if (type === 'tokenexchange' && isEmpty(raw.token_exchange_config))
      refuse(path, 'exchanges tokens, and token_exchange_config beside it does not', 'write token_exchange_config');
    else if (/^tool-/.test(type) && isEmpty(raw.tools_filter) && isEmpty(raw.tools_override))
      refuse(path, 'filters tools, and neither tools_filter nor tools_override says which', 'write tools_filter');
  }
}

function without(fields: unknown, drop: (name: string) => boolean): unknown {
  if (!isMapping(fields)) return fields ?? undefined;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !drop(name)));
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

/** Go writes empty values for what was never set. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false || value === 0) return true;
  return Array.isArray(value) ? value.length === 0 : isMapping(value) && Object.values(value).every(isEmpty);
}
