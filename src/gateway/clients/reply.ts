import { codeOf } from '../../base/index.ts';
import { type Era, errorResponse, type RequestId, toRpcError } from '../../mcp/index.ts';
import { type Answer, read } from '../call.ts';

export interface Written {
  readonly status: number;
  readonly body: string;
}

/** An answer as the body of an HTTP response. Text that nobody had to look into goes out as it came. */
export function writeAnswer(id: RequestId, answer: Answer, era: Era): Written {
  if ('unread' in answer && answer.id === id) return { status: 200, body: answer.unread };
  const told = read(answer);
  if ('error' in told)
    return { status: statusOf(told.error.code, era), body: JSON.stringify(errorResponse(id, told.error)) };
  return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, result: told.result }) };
}

/** An answer as the last event of a stream, where there is no status left to set. */
export function writeEvent(id: RequestId, answer: Answer): string {
  return writeAnswer(id, answer, 'legacy').body;
}

/** What was thrown while a request was handled is an answer too. */
export function failure(thrown: unknown, incident?: string): Answer {
  return { error: toRpcError(thrown, incident) };
}

/** MCP 2026-07-28 gives a few errors a status of their own; everything else a handler says is a 200. */
function statusOf(code: number, era: Era): number {
  if (era === 'legacy') return 200;
  if (code === -32601) return 404;
  return code === -32020 || code === -32021 || code === -32022 ? 400 : 200;
}

/** Whether this is told by the status of the HTTP answer, as long as that is still to be said: a client reacts to it by itself. */
export function needsStatus(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === 'outgoing.login_needed' || code === 'outgoing.unavailable' || code === 'storage.unavailable';
}
