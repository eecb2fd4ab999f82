import type { RequestId } from './json-rpc.ts';
import { endOfString } from './strict-json.ts';

/** Deeper answers are read the long way, which refuses what is too deep. */
const MAX_DEPTH = 128;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** What an answer is made of, as bits: each member may occur once. */
const JSONRPC = 1;
const ID = 2;
const RESULT = 4;
const ERROR = 8;

/**
 * Is this, without a doubt, the answer to that request? Clients sort answers by id alone, so one with a foreign id, or a second
 * id that another reader would believe, settles somebody else's call. Only the outermost object is looked at; `false` means that
 * the message has to be read before anybody relies on it.
 */
export function isAnswerTo(text: string, id: RequestId): boolean {
  let seen = 0;
  let at = space(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) return false;
  for (;;) {
    at = space(text, at + 1);
    if (text.charCodeAt(at) !== QUOTE) return false;
    const end = endOfString(text, at);
    if (end === 0) return false;
    const member = memberOf(text.slice(at + 1, end - 1));
    if (member === 0 || (seen & member) !== 0) return false;
    seen |= member;
    at = space(text, end);
    if (text.charCodeAt(at) !== COLON) return false;
    const from = space(text, at + 1);
    const to = endOfValue(text, from);
    if (to === -1 || (member === ID && text.slice(from, to) !== JSON.stringify(id))) return false;
    at = space(text, to);
    if (text.charCodeAt(at) === COMMA) continue;
    const complete = seen === (JSONRPC | ID | RESULT) || seen === (JSONRPC | ID | ERROR);
    return complete && text.charCodeAt(at) === CLOSE_BRACE && space(text, at + 1) === text.length;
  }
}

function memberOf(key: string): number {
  switch (key) {
    case 'jsonrpc':
      return JSONRPC;
    case 'id':
      return ID;
    case 'result':
      return RESULT;
    case 'error':
      return ERROR;
    default:
      return 0;
  }
}

function space(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at) - 1;
        if (at === -1) return -1;
        if (depth === 0) return at + 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        if (depth > MAX_DEPTH) return -1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      case COMMA:
        if (depth === 0) return at;
    }
  }
  return -1;
}
