import type { IncomingMessage } from 'node:http';
import { SallyError } from '../base/index.ts';
import { type ClientMessage, parseClientMessage, type RpcMessage } from '../mcp/index.ts';
import { readBody } from './listener/index.ts';

/** Bytes become one MCP message, or the messages of an old batch. The checks that need no body come first, so that a wrong request costs next to nothing. */
export function decodeMessage(request: IncomingMessage): Promise<ClientMessage | readonly RpcMessage[]> {
  refuseUnreadable(request);
  return readBody(request, parseClientMessage);
}

/** The same for clients of 2024-11-05, which are answered elsewhere and accept nothing in particular. */
export function decodeOldMessage(request: IncomingMessage): Promise<ClientMessage | readonly RpcMessage[]> {
  refuseOtherTypes(request);
  return readBody(request, parseClientMessage);
}

function refuseUnreadable(request: IncomingMessage): void {
  const { accept = '' } = request.headers;
  if (!accepts(accept, 'application/json') || !accepts(accept, 'text/event-stream')) {
    throw new SallyError('call.not_acceptable', 'the Accept header must list application/json and text/event-stream');
  }
  refuseOtherTypes(request);
}

function refuseOtherTypes(request: IncomingMessage): void {
  const { 'content-type': type = '' } = request.headers;
  // Also what keeps plain HTML forms out: they cannot send this type.
  if (type !== 'application/json' && type.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json') {
    throw new SallyError('call.media_type', 'send the message as Content-Type: application/json');
  }
}

function accepts(header: string, type: string): boolean {
  if (header.includes(type)) return true;
  const major = `${type.split('/', 1)[0]}/*`;
  return header.split(',').some((part) => {
    const range = part.split(';', 1)[0]?.trim().toLowerCase();
    return range === type || range === major || range === '*/*';
  });
}
