import { dirname, resolve } from 'node:path';
import { type ErrorCode, type Log, SallyError, type Secret } from '../base/index.ts';
import type { BackendTarget } from '../plan/index.ts';
import {
  checkRunConfig,
  type Problem,
  parsePackageReference,
  problemAt,
  type ResourceOf,
  RUN_CONFIG_VERSION,
  type RunConfig,
} from '../resources/index.ts';
import { type Environment, type Launch, resolvePackage } from '../workloads/index.ts';
import { toTarget } from './target.ts';
import type { WorkloadSpec, Workloads } from './workloads.ts';

type MCPServer = ResourceOf<'MCPServer'>;

export interface LaunchParts {
  readonly workloads: Workloads;
  readonly secretOf: (namespace: string, ref: { readonly name: string; readonly key: string }) => Secret;
  readonly env: Environment;
  readonly log: Log;
}

export interface Targets {
  readonly targetOf: (server: MCPServer) => BackendTarget | undefined;
  readonly problems: readonly Problem[];
  /** The code of the first problem. */
  readonly code?: ErrorCode;
}

/** Finds for each declared server the program that runs it. What cannot run here is a problem of the resource, with its place. */
export async function resolveTargets(servers: readonly MCPServer[], parts: LaunchParts): Promise<Targets> {
  const targets = new Map<MCPServer, BackendTarget>();
  const problems: Problem[] = [];
  let code: ErrorCode | undefined;
  for (const server of servers) {
    try {
      const planned = await parts.workloads.plan(await specOf(server, parts));
      targets.set(server, toTarget(planned, server.spec.sessionMode === 'shared'));
    } catch (error) {
      if (!(error instanceof SallyError)) throw error;
      code ??= error.code;
      problems.push(
        problemAt(server.origin, `MCPServer/${server.metadata.name}`, {
          path: ['spec', 'image'],
          message: error.message,
          ...(error.hint === undefined ? {} : { hint: error.hint }),
        }),
      );
    }
  }
  return { targetOf: (server) => targets.get(server), problems, ...(code === undefined ? {} : { code }) };
}

async function specOf(server: MCPServer, { secretOf, env, log }: LaunchParts): Promise<WorkloadSpec> {
  const { name, namespace } = server.metadata;
  const { image, transport, args, mcpPort } = server.spec;
  const reference = parsePackageReference(image);
  const from = dirname(server.origin.file);
  const plain = server.spec.env.map((variable) => [variable.name, variable.value] as const);
  const secret = server.spec.secrets.map((ref) => [ref.targetEnvName ?? ref.key, secretOf(namespace, ref)] as const);
  const variables = Object.fromEntries<string | Secret>([...plain, ...secret]);
  const port = mcpPort === undefined ? {} : { port: mcpPort };
  const confined = { config: () => runConfigOf(server, from, reference ? 'process' : 'container'), env, log };
  if (!reference) return { launch: await containerOf(variables, confined), transport, ...port };
  if (server.spec.permissionProfile || server.spec.volumes.length > 0)
    return { launch: await confinedOf(variables, confined), transport, ...port };
  const command = await resolvePackage(reference, args, { from, env });
  return { launch: { name, ...command, env: variables }, transport, ...port };
}

interface Declared extends Pick<LaunchParts, 'env' | 'log'> {
  readonly config: () => RunConfig;
}
type Variables = Readonly<Record<string, string | Secret>>;

/** An image runs as `sally run` would run it. */
async function containerOf(variables: Variables, { config, env, log }: Declared): Promise<Launch> {
  const { containerLaunchOf } = await import('./container-launch.ts');
  return await containerLaunchOf(config(), variables, { env, log, progress: (line) => log.info(line, {}) });
}

/** A package with a profile or volumes gets walls, or does not run. */
async function confinedOf(variables: Variables, { config, env, log }: Declared): Promise<Launch> {
  const { confinedLaunchOf } = await import('./confined-launch.ts');
  return await confinedLaunchOf(config(), variables, { env, progress: (line) => log.info(line, {}) });
}

/** What `sally run` would be told, with the volumes and the profile that are declared. */
function runConfigOf({ metadata, spec }: MCPServer, from: string, runtime: 'container' | 'process'): RunConfig {
  const { permissionProfile: profile } = spec;
  if (profile?.type === 'configmap') {
    throw new SallyError('config.unsupported', 'profiles in a ConfigMap are not read by this version', {
      hint: 'use the builtin profile none or network',
    });
  }
  return checkRunConfig(
    {
      schema_version: RUN_CONFIG_VERSION,
      name: metadata.name,
      image: spec.image,
      transport: spec.transport,
      cmd_args: spec.args,
      runtime,
      working_directory: resolve(from),
      volumes: spec.volumes.map(
        ({ hostPath, mountPath, readOnly }) => `${hostPath}:${mountPath}${readOnly ? ':ro' : ''}`,
      ),
      ...(profile ? { permission_profile_name_or_path: profile.name } : {}),
    },
    `MCPServer/${metadata.name}`,
  );
}
