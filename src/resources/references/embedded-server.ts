import type { ReferenceFinding, Scope } from './check.ts';

/** Tokens of an embedded server are checked against the issuer of the MCPOIDCConfig: the two are one text. */
export function* checkEmbeddedServers({ set }: Scope): Generator<ReferenceFinding> {
  for (const server of set.virtualMcpServers) {
    const { authServerConfig, incomingAuth } = server.spec;
    if (!authServerConfig || !incomingAuth.oidcConfigRef) continue;
    const { name } = incomingAuth.oidcConfigRef;
    const expected = set.find('MCPOIDCConfig', server.metadata.namespace, name)?.spec.inline?.issuer;
    if (expected === undefined || expected === authServerConfig.issuer) continue;
    yield {
      resource: server,
      path: ['spec', 'authServerConfig', 'issuer'],
      message: `must equal the issuer of MCPOIDCConfig/${name}, which is ${expected}`,
    };
  }
}
