import { type Html, html } from './html.ts';
import { stranger } from './stranger.ts';

/** Names in a sentence: `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[]): Html {
  const items = names.map((name, index) => {
    const before = index === 0 ? '' : index === names.length - 1 ? ' and ' : ', ';
    return html`${before}<strong>${stranger(name)}</strong>`;
  });
  return html`${items}`;
}
