import { dirname } from 'node:path';
import { type ErrorCode, type Log, SallyError, type Secret } from '../base/index.ts';
import type { BackendTarget } from '../plan/index.ts';
import { type Problem, parsePackageReference, problemAt, type ResourceOf } from '../resources/index.ts';
import { type Environment, resolvePackage } from '../workloads/index.ts';
import type { PlannedWorkload, WorkloadSpec, Workloads } from './workloads.ts';

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
  if (!reference) {
    throw new SallyError(
      'workload.runtime_missing',
      `${image} is a container image, and this version runs no containers yet`,
      {
        hint: 'use npx://, uvx:// or go:// where the server is published as a package',
      },
    );
  }
  sayWhatIsNotEnforced(server, log);
  const command = await resolvePackage(reference, args, { from: dirname(server.origin.file), env });
  const plain = server.spec.env.map((variable) => [variable.name, variable.value] as const);
  const secret = server.spec.secrets.map((ref) => [ref.targetEnvName ?? ref.key, secretOf(namespace, ref)] as const);
  return {
    launch: { name, ...command, env: Object.fromEntries<string | Secret>([...plain, ...secret]) },
    transport,
    ...(mcpPort === undefined ? {} : { port: mcpPort }),
  };
}

/** A plain process sees the machine as its user does. Whoever asked for less must hear that he did not get it. */
function sayWhatIsNotEnforced({ metadata, spec }: MCPServer, log: Log): void {
  if (spec.permissionProfile) {
    log.warn('a process is not confined by its permission profile', {
      server: metadata.name,
      profile: spec.permissionProfile.name,
    });
  }
  if (spec.volumes.length > 0) {
    log.warn('a process sees the whole file system, volumes mean nothing to it', { server: metadata.name });
  }
}

export function toTarget(planned: PlannedWorkload, shared: boolean): BackendTarget {
  switch (planned.kind) {
    case 'stdio':
      return { kind: 'stdio', workload: planned.key, shared };
    case 'streamable-http':
    case 'sse':
      return { kind: planned.kind, url: planned.url, addresses: 'private', headers: {}, workload: planned.key };
  }
}
