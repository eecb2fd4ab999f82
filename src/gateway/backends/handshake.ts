import { SallyError } from '../../base/index.ts';
import { isObject, isRevision, LATEST_REVISION, REVISIONS } from '../../mcp/index.ts';
import type { Identity, ServerHello } from '../call.ts';
import type { Talk } from './link.ts';

/** Whom the gateway speaks as when no user is involved: opening a conversation, listing what a server offers. */
export const GATEWAY_IDENTITY: Identity = { kind: 'anonymous' };

/** Opens a conversation of the stateful revisions: `initialize`, then the word that we are ready. */
export async function shakeHands(name: string, talk: Talk, version: string, signal: AbortSignal): Promise<ServerHello> {
  const params = {
    protocolVersion: LATEST_REVISION,
    capabilities: {},
    clientInfo: { name: 'sallyport', title: 'Sallyport', version },
  };
  const answer = await talk.request('initialize', params, GATEWAY_IDENTITY, signal);
  if ('error' in answer) {
    throw new SallyError('backend.protocol', `${name} refused to initialize: ${answer.error.message}`);
  }
  const { protocolVersion, capabilities, serverInfo, instructions } = answer.result;
  if (!isRevision(protocolVersion)) {
    throw new SallyError(
      'backend.protocol',
      `${name} speaks MCP ${String(protocolVersion)}, we speak ${REVISIONS.join(', ')}`,
    );
  }
  await talk.notify('notifications/initialized', {}, GATEWAY_IDENTITY);
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo: isObject(serverInfo) ? serverInfo : {},
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}
