import { type Html, html } from './html.ts';

const UNITS = [
  ['year', 365 * 24 * 3600],
  ['month', 30 * 24 * 3600],
  ['day', 24 * 3600],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** How far away a time is, in one unit: `3 days ago`, `in 5 minutes`. The exact time is there for whoever asks for it. */
export function timeElement(time: number, now: number): Html {
  const exact = new Date(time * 1000).toISOString().replace(/:\d\d\.\d+Z$/, 'Z');
  return html`<time datetime="${exact}" title="${exact.replace('T', ' ').replace('Z', ' UTC')}">${distance(time, now)}</time>`;
}

function distance(time: number, now: number): string {
  const away = Math.abs(time - now);
  const [unit, length] = UNITS.find(([, seconds]) => away >= seconds) ?? [];
  if (unit === undefined || length === undefined) return time > now ? 'in less than a minute' : 'a moment ago';
  const count = Math.floor(away / length);
  const words = `${count} ${unit}${count === 1 ? '' : 's'}`;
  return time > now ? `in ${words}` : `${words} ago`;
}
