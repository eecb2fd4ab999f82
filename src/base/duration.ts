const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Durations are written as in Go: `500ms`, `30s`, `2m30s`, `1.5h`. A unit is required. */
export const DURATION_PATTERN = /^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$/;

/** Milliseconds of a duration text, or `undefined` when it is not one. */
export function parseDuration(text: string): number | undefined {
  if (!DURATION_PATTERN.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([0-9.]+)([a-zµ]+)/g)) {
    total += Number(amount) * (UNITS[unit ?? ''] ?? Number.NaN);
  }
  return Number.isFinite(total) ? total : undefined;
}
