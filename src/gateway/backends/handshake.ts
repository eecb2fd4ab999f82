import { SallyError } from '../../base/index.ts';
import {
  isLegacyRevision,
  isObject,
  LEGACY_REVISIONS,
  META,
  MODERN_REVISION,
  OLDEST_REVISION,
  type Params,
} from '../../mcp/index.ts';
import { type Answer, type Call, type Client, type Identity, read, type ServerHello } from '../call.ts';
import { gatewayClient, OwnCall } from './own-call.ts';
import { asLegacyCapabilities } from './translate.ts';

export type Ask = (call: Call, method: string, params: Params) => Promise<Answer>;

/** `initialize`, in the name of a client. The caller sends `notifications/initialized` when it is content with the answer. */
export async function initialize(
  name: string,
  ask: Ask,
  client: Client,
  identity: Identity,
  signal: AbortSignal,
): Promise<ServerHello> {
  const params = {
    protocolVersion: client.era === 'legacy' ? client.revision : LEGACY_REVISIONS[0],
    capabilities: asLegacyCapabilities(client),
    clientInfo: client.info ?? gatewayClient('0').info,
  };
  const told = read(await ask(new OwnCall('initialize', params, identity, client, signal), 'initialize', params));
  if ('error' in told) throw new SallyError('backend.protocol', `${name} refused to initialize: ${told.error.message}`);
  const { protocolVersion, capabilities, serverInfo, instructions } = told.result;
  if (!isLegacyRevision(protocolVersion) && protocolVersion !== OLDEST_REVISION) {
    throw new SallyError('backend.protocol', `${name} speaks MCP ${String(protocolVersion)}, which we do not`);
  }
  return {
    era: 'legacy',
    revision: protocolVersion,
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo: isObject(serverInfo) ? serverInfo : {},
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

/** `server/discover`: the hello of a server of the stateless revision, or `undefined` when it is not one. */
export async function discover(
  ask: Ask,
  client: Client,
  identity: Identity,
  signal: AbortSignal,
): Promise<ServerHello | undefined> {
  const params = {
    _meta: {
      [META.protocolVersion]: MODERN_REVISION,
      [META.clientCapabilities]: {},
      [META.clientInfo]: client.info,
    },
  };
  const told = read(
    await ask(new OwnCall('server/discover', params, identity, client, signal), 'server/discover', params),
  );
  if ('error' in told) return undefined;
  const { supportedVersions, capabilities, instructions, _meta } = told.result;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_REVISION)) return undefined;
  const serverInfo = isObject(_meta) ? _meta[META.serverInfo] : undefined;
  return {
    era: 'modern',
    revision: MODERN_REVISION,
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo: isObject(serverInfo) ? serverInfo : {},
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}
