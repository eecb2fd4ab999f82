const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** How long ago that was, in the two largest units that say something: `3d 4h`, `12s`. */
export function since(time: string, now: number = Date.now()): string {
  let seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1_000));
  const parts: string[] = [];
  for (const [unit, length] of UNITS) {
    const count = Math.floor(seconds / length);
    seconds -= count * length;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join(' ');
}
