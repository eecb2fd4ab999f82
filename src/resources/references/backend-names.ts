import { didYouMean } from '../validate/explain.ts';
import { backendsOf, membersOf } from './backends.ts';
import type { ReferenceFinding, Scope } from './check.ts';

/** Tools are named after their backend, so a name means one backend of a group, and a name in a map means one of them. */
export function* checkBackendNames(scope: Scope): Generator<ReferenceFinding> {
  yield* sharedNames(scope);
  yield* strangersInMaps(scope);
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
    const { line, column } = other.origin.locate(['metadata', 'name']);
    const message = `is taken in MCPGroup/${group}: ${other.origin.file}:${line}:${column} declares MCPServer/${name}`;
    yield { resource: entry, path: ['metadata', 'name'], message };
  }
}

function* strangersInMaps({ set, isDeclared }: Scope): Generator<ReferenceFinding> {
  for (const server of set.virtualMcpServers) {
    const names = backendsOf(set, server).map(({ metadata }) => metadata.name);
    for (const name of Object.keys(server.spec.outgoingAuth.backends ?? {})) {
      const broken = ['MCPServer', 'MCPServerEntry'].some(
        (kind) =>
          isDeclared(kind, server.metadata.namespace, name) &&
          !set.find(kind as 'MCPServer', server.metadata.namespace, name),
      );
      if (names.includes(name) || broken) continue;
      yield {
        resource: server,
        path: ['spec', 'outgoingAuth', 'backends', name],
        message: `is not a backend of MCPGroup/${server.spec.groupRef.name}`,
        hint:
          didYouMean(name, names).hint ??
          (names.length === 0 ? 'the group has no members' : `members: ${names.join(', ')}`),
      };
    }
  }
}
