import type { ResourceOf } from '../kinds/all.ts';
import { didYouMean } from '../validate/explain.ts';
import { formatPlace } from '../validate/problem.ts';
import type { FieldPath } from '../walk.ts';
import { backendsOf, membersOf } from './backends.ts';
import type { ReferenceFinding, Scope } from './check.ts';

/** Tools are named after their backend, so a name means one backend of a group, and a virtual server names no others. */
export function* checkBackendNames(scope: Scope): Generator<ReferenceFinding> {
  yield* sharedNames(scope);
  yield* strangers(scope);
}

/** Two kinds may carry the same name, two backends of one group may not. */
function* sharedNames({ set }: Scope): Generator<ReferenceFinding> {
  for (const entry of set.mcpServerEntries) {
    const { name, namespace } = entry.metadata;
    const group = entry.spec.groupRef.name;
    const other = membersOf(set, namespace, group).find(
      (one) => one.kind === 'MCPServer' && one.metadata.name === name,
    );
    if (!other) continue;
    const place = formatPlace(other.origin, ['metadata', 'name']);
    const message = `is taken in MCPGroup/${group}: ${place} declares MCPServer/${name}`;
    yield { resource: entry, path: ['metadata', 'name'], message };
  }
}

function* strangers({ set, isDeclared }: Scope): Generator<ReferenceFinding> {
  for (const server of set.virtualMcpServers) {
    const { namespace } = server.metadata;
    const group = server.spec.groupRef.name;
    // A group that is not there is one mistake, and reported as such.
    if (!isDeclared('MCPGroup', namespace, group)) continue;
    const names = backendsOf(set, server).map(({ metadata }) => metadata.name);
    for (const { name, path } of mentionsIn(server)) {
      const broken = ['MCPServer', 'MCPServerEntry'].some(
        (kind) => isDeclared(kind, namespace, name) && !set.find(kind as 'MCPServer', namespace, name),
      );
      if (names.includes(name) || broken) continue;
      yield {
        resource: server,
        path: ['spec', ...path],
        message: `is not a backend of MCPGroup/${group}`,
        hint:
          didYouMean(name, names).hint ??
          (names.length === 0 ? 'the group has no members' : `members: ${names.join(', ')}`),
      };
    }
  }
}

/** Every place where a virtual server names a backend. */
function* mentionsIn({ spec }: ResourceOf<'VirtualMCPServer'>): Generator<{ name: string; path: FieldPath }> {
  for (const name of Object.keys(spec.outgoingAuth.backends ?? {})) {
    yield { name, path: ['outgoingAuth', 'backends', name] };
  }
  const { tools, conflictResolutionConfig } = spec.config.aggregation;
  for (const [index, name] of conflictResolutionConfig.priorityOrder.entries()) {
    yield { name, path: ['config', 'aggregation', 'conflictResolutionConfig', 'priorityOrder', index] };
  }
  for (const [index, { workload }] of tools.entries()) {
    yield { name: workload, path: ['config', 'aggregation', 'tools', index, 'workload'] };
  }
  for (const name of Object.keys(spec.config.operational.timeouts.perWorkload)) {
    yield { name, path: ['config', 'operational', 'timeouts', 'perWorkload', name] };
  }
}
