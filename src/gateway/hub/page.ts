import { SallyError } from '../../base/index.ts';
import type { Params } from '../../mcp/index.ts';
import type { Item } from '../call.ts';

const PAGE_SIZE = 1_000;

/** One page of a merged list. A cursor is the name of the last entry given out, so changes in between cause no repeats. */
export function pageOf(items: readonly Item[], field: string, key: string, cursor: unknown): Params {
  const from = cursor === undefined ? 0 : positionAfter(items, key, cursor);
  const page = from === 0 && items.length <= PAGE_SIZE ? items : items.slice(from, from + PAGE_SIZE);
  const last = page.at(-1);
  const more = from + page.length < items.length && last;
  return { [field]: page, ...(more ? { nextCursor: Buffer.from(String(last[key])).toString('base64url') } : {}) };
}

function positionAfter(items: readonly Item[], key: string, cursor: unknown): number {
  const name = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString('utf8') : undefined;
  const position = items.findIndex((item) => item[key] === name);
  if (position === -1) throw new SallyError('call.invalid_params', 'the cursor is not one of this list');
  return position + 1;
}
