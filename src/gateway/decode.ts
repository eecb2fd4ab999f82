import type { IncomingMessage } from 'node:http';
import { SallyError } from '../base/index.ts';
import { isRevision, parseMessage, REVISIONS, type RpcMessage } from '../mcp/index.ts';
import { readBody } from './listener/index.ts';

/** Bytes become one MCP message. The checks that need no body come first, so that a wrong request costs next to nothing. */
export async function decodeMessage(request: IncomingMessage): Promise<RpcMessage> {
  if (request.method !== 'POST') {
    throw new SallyError('listener.method_refused', `the MCP endpoint takes POST, not ${request.method}`);
  }
  const { accept = '', 'content-type': type = '' } = request.headers;
  // Also what keeps plain HTML forms out: they cannot send this type.
  if (type.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json') {
    throw new SallyError('call.media_type', 'send the message as Content-Type: application/json');
  }
  if (!accepts(accept, 'application/json') || !accepts(accept, 'text/event-stream')) {
    throw new SallyError('call.not_acceptable', 'the Accept header must list application/json and text/event-stream');
  }
  const revision = request.headers['mcp-protocol-version'];
  if (revision !== undefined && !isRevision(revision)) {
    throw new SallyError(
      'call.unsupported_revision',
      `MCP ${revision} is not spoken here, only ${REVISIONS.join(', ')}`,
    );
  }
  return parseMessage(await readBody(request));
}

function accepts(header: string, type: string): boolean {
  const major = `${type.split('/', 1)[0]}/*`;
  return header.split(',').some((part) => {
    const range = part.split(';', 1)[0]?.trim().toLowerCase();
    return range === type || range === major || range === '*/*';
  });
}
