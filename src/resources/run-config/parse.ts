import type { z } from 'zod';
import { SallyError } from '../../base/index.ts';
import { explain, findingsOf } from '../validate/explain.ts';
import { type Finding, formatPath } from '../validate/problem.ts';
import { isMapping } from '../walk.ts';
import { PermissionProfile } from './container.ts';
import { RUN_CONFIG_VERSION, RunConfig, ToolsOverride } from './schema.ts';
import { exchangeRules } from './token-exchange.ts';
import { fromToolHive } from './toolhive.ts';

export interface ParsedRunConfig {
  readonly config: RunConfig;
  /** Fields of another program's file that mean nothing here. */
  readonly ignored: readonly string[];
}

/** Reads a run configuration: one of ours to the letter, one of ToolHive as far as we can honour it. Throws with every problem. */
export function parseRunConfig(text: string, file: string): ParsedRunConfig {
  const raw = readJson(text, file);
  if (!isMapping(raw)) throw invalid(file, [{ path: [], message: 'must be a JSON object' }]);
  const version = raw.schema_version;
  if (version === RUN_CONFIG_VERSION) return { config: checkRunConfig(raw, file), ignored: [] };
  if (version !== undefined && !/^v0\./.test(String(version))) {
    const message = `is ${JSON.stringify(version)}, which this version does not know; it writes ${RUN_CONFIG_VERSION}`;
    throw invalid(file, [{ path: ['schema_version'], message }]);
  }
  const { value, ignored, problems } = fromToolHive(raw);
  if (problems.length > 0) throw invalid(file, problems);
  return { config: checkRunConfig({ schema_version: RUN_CONFIG_VERSION, ...value }, file), ignored };
}

/** Holds what flags or a file say against the schema. `place` says where it was written. */
export function checkRunConfig(value: unknown, place: string): RunConfig {
  const config = check(RunConfig, value, place);
  const problems = brokenRules(config);
  if (problems.length > 0) throw invalid(place, problems);
  return config;
}

/** Always the same text for the same configuration, in the order of the schema. */
export function formatRunConfig(config: RunConfig): string {
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** The file of `--tools-override`. */
export function parseToolsOverride(text: string, file: string): RunConfig['tools_override'] {
  const raw = readJson(text, file);
  const overrides = isMapping(raw) ? raw.toolsOverride : undefined;
  if (!isMapping(raw) || !isMapping(overrides) || Object.keys(overrides).length === 0)
    throw invalid(file, [{ path: ['toolsOverride'], message: 'is required: an object with at least one tool' }]);
  const others = Object.keys(raw).filter((key) => key !== 'toolsOverride');
  if (others.length > 0)
    throw invalid(
      file,
      others.map((key) => ({ path: [key], message: 'is not a known field' })),
    );
  return check(ToolsOverride, overrides, file);
}

/** The file of `--permission-profile`. Unknown fields are errors: a rule that is misspelt must not be one that is missing. */
export function parsePermissionProfile(text: string, file: string): PermissionProfile {
  return check(PermissionProfile, readJson(text, file), file);
}

function check<S extends z.ZodType>(schema: S, value: unknown, place: string): z.output<S> {
  // To compile a parser for it takes longer than to parse the one value that a command has.
  const parsed = schema.safeParse(value, { error: explain, jitless: true });
  if (parsed.success) return parsed.data;
  throw invalid(
    place,
    parsed.error.issues.flatMap((issue) => findingsOf(issue, schema, value)),
  );
}

function brokenRules(config: RunConfig): Finding[] {
  const { image, remote_url, transport, oidc_config } = config;
  const { add_plaintext_headers = {}, add_headers_from_secret = {} } = config.header_forward ?? {};
  const headers = [add_plaintext_headers, add_headers_from_secret].flatMap((map) =>
    Object.keys(map).map((header) => header.toLowerCase()),
  );
  const rules: readonly (readonly [boolean, keyof RunConfig, string])[] = [
    [(image === undefined) === (remote_url === undefined), 'image', 'or remote_url is required, and not both'],
    [remote_url !== undefined && transport === 'stdio', 'transport', 'of a remote server is streamable-http or sse'],
    [
      config.stateless && transport !== 'streamable-http',
      'stateless',
      'is for the transport streamable-http: the others need streams',
    ],
    [config.proxy_mode === 'sse' && transport !== 'stdio', 'proxy_mode', 'sse is for the transport stdio'],
    [config.target_port !== undefined && transport === 'stdio', 'target_port', 'means nothing to a stdio server'],
    [config.header_forward !== undefined && remote_url === undefined, 'header_forward', 'is for remote servers'],
    [
      config.remote_auth_config !== undefined && remote_url === undefined,
      'remote_auth_config',
      'is for remote servers',
    ],
    [headers.length > new Set(headers).size, 'header_forward', 'names one header twice'],
    [
      config.remote_auth_config !== undefined && headers.includes('authorization'),
      'header_forward',
      'must not set Authorization beside a bearer token',
    ],
    [
      oidc_config?.client_secret_ref !== undefined && oidc_config.client_id === undefined,
      'oidc_config',
      'needs client_id together with client_secret_ref',
    ],
    ...exchangeRules(config),
  ];
  return rules.flatMap(([broken, field, message]) => (broken ? [{ path: [field], message }] : []));
}

function readJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SallyError('config.invalid', `${file} is not JSON`, {
      cause,
      hint: 'write it with: sally export NAME FILE',
    });
  }
}

function invalid(place: string, findings: readonly Finding[]): SallyError {
  const lines = findings.map(({ path, message, hint }) => {
    const field = formatPath(path);
    return `  ${field === '' ? '' : `${field}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;
  });
  return new SallyError('config.invalid', `${place} breaks a rule\n${lines.join('\n')}`, {
    hint: 'correct it; nothing was started',
  });
}
