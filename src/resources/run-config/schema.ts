import { z } from 'zod';
import { ServerImage } from '../fields/image.ts';
import { EnvName, ForwardedHeaderName, HeaderValue } from '../fields/names.ts';
import { Port, Scopes, Text } from '../fields/text.ts';
import { BackendToolName, ToolName } from '../fields/tools.ts';
import { AnyIssuerUrl, HttpUrl } from '../fields/urls.ts';
import { Container, RuntimeName } from './container.ts';
import { GROUP_LENGTH, GROUP_PATTERN } from './group-name.ts';
import { SecretSource } from './secret-source.ts';
import { TokenExchange } from './token-exchange.ts';

/** What `sally` writes. Files of ToolHive name another version, or none. */
export const RUN_CONFIG_VERSION = 'sallyport/v1' as const;

const MAX_TOOLS = 256;
const MAX_ARGS = 512;

const WorkloadName = z
  .string()
  .max(100, 'must have at most 100 characters')
  .regex(/^(?!\.+$)[A-Za-z0-9._][A-Za-z0-9._-]*$/, 'must be letters, digits, dots, dashes and underscores');

export const GroupName = z
  .string()
  .max(GROUP_LENGTH, `must have at most ${GROUP_LENGTH} characters`)
  .regex(GROUP_PATTERN, 'must be lowercase letters, digits, `_` and `-`');

/** Kubernetes: an optional DNS prefix, then a name. */
const LABEL_KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
export const Labels = z.record(
  z
    .string()
    .regex(LABEL_KEY, 'must be a label: letters, digits, `-`, `_` and `.`, maybe with a DNS name and `/` in front'),
  z.string().regex(LABEL_VALUE, 'must be at most 63 letters, digits, `-`, `_` and `.`, a letter or digit at both ends'),
);

/** `NAME,target=VARIABLE`: where the value is kept, and the variable in which the server finds it. */
export const SECRET_REFERENCE = /^([^,\s][^,]{0,511}),target=([-._a-zA-Z][-._a-zA-Z0-9]*)$/;
export const SecretReference = z
  .string()
  .max(800)
  .regex(SECRET_REFERENCE, 'must be NAME,target=VARIABLE')
  .meta({ title: 'secret' });

const AbsolutePath = z
  .string()
  .max(4096)
  .regex(/^\/[^\0]*$/, 'must be an absolute path');

const Oidc = z.strictObject({
  issuer: AnyIssuerUrl,
  audience: Text,
  client_id: Text.optional(),
  client_secret_ref: SecretSource.optional(),
  jwks_url: HttpUrl.optional(),
  introspection_url: HttpUrl.optional(),
  scopes: Scopes.optional(),
  required_scopes: Scopes.optional(),
  insecure_allow_http: z.boolean().default(false),
  jwks_allow_private_ip: z.boolean().default(false),
  jwks_auth_token_file: AbsolutePath.optional(),
  resource_url: HttpUrl.optional(),
});

const ToolOverride = z
  .strictObject({
    name: ToolName.optional(),
    description: z.string().min(1, 'must not be empty').max(8192).optional(),
  })
  .refine(({ name, description }) => name !== undefined || description !== undefined, 'needs a name or a description');

export const ToolsOverride = z
  .record(BackendToolName, ToolOverride)
  .refine((overrides) => Object.keys(overrides).length <= MAX_TOOLS, `must have at most ${MAX_TOOLS} entries`)
  .refine((overrides) => !sharedName(overrides), {
    error: (issue) => `gives two tools the name ${sharedName(issue.input)}`,
  });

/** A name that two overrides give out. Which of the two tools would be called is nobody's guess. */
function sharedName(overrides: unknown): string | undefined {
  const names = Object.entries(overrides as Record<string, { readonly name?: string }>).map(
    ([own, { name }]) => name ?? own,
  );
  return names.find((name, index) => names.indexOf(name) !== index);
}

export const ToolsFilter = z.array(BackendToolName).max(MAX_TOOLS);

const HeaderForward = z.strictObject({
  add_plaintext_headers: z.record(ForwardedHeaderName, HeaderValue).default({}),
  /** Header → name of a secret. */
  add_headers_from_secret: z
    .record(
      ForwardedHeaderName,
      z
        .string()
        .max(512)
        .regex(/^[^,\p{Cc}]+$/u, 'must be the name of a secret'),
    )
    .default({}),
});

const RemoteAuth = z.strictObject({
  bearer_token_ref: SecretSource.describe('Where the token is found at each start.'),
});

/** Everything about one workload of `sally run`: what it writes to its state, exports, and takes with `--from-config`. */
export const RunConfig = z.strictObject({
  schema_version: z.literal(RUN_CONFIG_VERSION),
  name: WorkloadName,
  group: GroupName.default('default'),
  image: ServerImage.optional().describe('Container image, or npx://, uvx:// or go:// reference.'),
  remote_url: HttpUrl.optional().describe('Server that runs elsewhere.'),
  registry_server_name: Text.optional().describe('Name under which the server was found in a registry.'),
  registry_url: Text.optional(),
  runtime: RuntimeName.optional().describe('What runs the server; decided once, when it is run first.'),
  working_directory: AbsolutePath.optional().describe('Where relative paths and installed packages are looked up.'),
  cmd_args: z.array(z.string().max(32_768)).max(MAX_ARGS).default([]),
  transport: z.enum(['stdio', 'streamable-http', 'sse']),
  proxy_mode: z.enum(['streamable-http', 'sse']).default('streamable-http'),
  session_mode: z.enum(['shared', 'per-session']).default('shared'),
  host: Text.default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(0).describe('Port of the proxy; 0 takes a free one.'),
  target_host: Text.default('127.0.0.1'),
  target_port: Port.optional(),
  allowed_hosts: z.array(Text).max(MAX_TOOLS).default([]),
  allowed_origins: z.array(Text).max(MAX_TOOLS).default([]),
  insecure_allow_anonymous: z.boolean().default(false),
  trust_proxy_headers: z.boolean().default(false),
  endpoint_prefix: z
    .string()
    .max(256)
    .regex(/^(\/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)+$/, 'must start with `/` and not end with it, as in /tools')
    .optional(),
  stateless: z.boolean().default(false).describe('The server takes POST only.'),
  ca_bundle: AbsolutePath.optional().describe('PEM certificates to trust for identity providers and a remote server.'),
  env_file: AbsolutePath.optional().describe('File with variables, read at each start.'),
  env_file_dir: AbsolutePath.optional().describe('Folder of such files.'),
  env_vars: z.record(EnvName, z.string().max(131_072)).default({}),
  secrets: z.array(SecretReference).max(MAX_TOOLS).default([]).describe('References; values are read at each start.'),
  container_labels: Labels.default({}),
  tools_filter: ToolsFilter.default([]).describe('The only tools to offer, by their names after tools_override.'),
  tools_override: ToolsOverride.default({}),
  header_forward: HeaderForward.optional().describe('Headers for a remote server.'),
  remote_auth_config: RemoteAuth.optional().describe('How we prove to a remote server who we are.'),
  oidc_config: Oidc.optional().describe('Whose tokens callers must show; anybody may call without it.'),
  token_exchange_config: TokenExchange.optional().describe('The token that the server gets in exchange for theirs.'),
  ...Container,
});
export type RunConfig = z.output<typeof RunConfig>;
