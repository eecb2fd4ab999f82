import { parsePackageReference } from '../fields/package-reference.ts';
import type { ResourceOf } from '../kinds/all.ts';
import { formatPlace } from '../validate/problem.ts';
import type { ReferenceFinding, Scope } from './check.ts';

type Server = ResourceOf<'MCPServer'>;
type PortField = 'proxyPort' | 'mcpPort';

/** Two listeners on one port: the second does not start. Namespaces do not matter, all of them are on one machine. */
export function* checkPorts({ set }: Scope): Generator<ReferenceFinding> {
  const owners = new Map<number, { readonly server: Server; readonly field: PortField }>();
  for (const server of set.mcpServers) {
    for (const { port, field } of portsOf(server)) {
      const owner = owners.get(port);
      if (!owner) {
        owners.set(port, { server, field });
        continue;
      }
      const place = formatPlace(owner.server.origin, ['spec', owner.field]);
      const whose = owner.server === server ? 'this server' : `MCPServer/${owner.server.metadata.name}`;
      const message = `is taken: ${place} gives port ${port} to ${whose} as ${owner.field}`;
      yield { resource: server, path: ['spec', field], message };
    }
  }
}

/**
 * The ports that a server takes on this machine. A container has a network of its own, where any number of servers may
 * listen on 8080; over stdio nobody listens.
 */
function* portsOf({ spec }: Server): Generator<{ readonly port: number; readonly field: PortField }> {
  if (spec.proxyPort !== undefined) yield { port: spec.proxyPort, field: 'proxyPort' };
  const listens = spec.transport !== 'stdio' && parsePackageReference(spec.image) !== undefined;
  if (listens && spec.mcpPort !== undefined) yield { port: spec.mcpPort, field: 'mcpPort' };
}
