import type { RequestId } from './json-rpc.ts';
import { endOfString } from './strict-json.ts';

const KEYS = new Set(['jsonrpc', 'id', 'result', 'error']);
/** Deeper answers are read the long way, which refuses what is too deep. */
const MAX_DEPTH = 128;

/**
 * Is this, without a doubt, the answer to that request? Clients sort answers by id alone, so one with a foreign id, or a second
 * id that another reader would believe, settles somebody else's call. Only the outermost object is looked at; `false` means that
 * the message has to be read before anybody relies on it.
 */
export function isAnswerTo(text: string, id: RequestId): boolean {
  const seen = new Set<string>();
  let at = space(text, 0);
  if (text[at] !== '{') return false;
  for (;;) {
    at = space(text, at + 1);
    if (text[at] !== '"') return false;
    const end = endOfString(text, at);
    const key = text.slice(at + 1, end - 1);
    if (end === 0 || !KEYS.has(key) || seen.has(key)) return false;
    seen.add(key);
    at = space(text, end);
    if (text[at] !== ':') return false;
    const from = space(text, at + 1);
    const to = endOfValue(text, from);
    if (to === -1 || (key === 'id' && text.slice(from, to) !== JSON.stringify(id))) return false;
    at = space(text, to);
    if (text[at] === ',') continue;
    return text[at] === '}' && space(text, at + 1) === text.length && seen.has('id') && seen.size === 3;
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
    switch (text[at]) {
      case '"':
        at = endOfString(text, at) - 1;
        if (at === -1) return -1;
        if (depth === 0) return at + 1;
        break;
      case '{':
      case '[':
        depth += 1;
        if (depth > MAX_DEPTH) return -1;
        break;
      case '}':
      case ']':
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      case ',':
        if (depth === 0) return at;
    }
  }
  return -1;
}
