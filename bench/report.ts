import type { Check } from './checks.ts';
import type { Key } from './contenders.ts';

export interface Row {
  readonly key: Key;
  readonly name: string;
  /** Medians over the rounds, by number of connections. */
  readonly at: Readonly<Record<string, Figures>>;
  readonly rss: number;
}

export interface Figures {
  readonly callsPerSecond: number;
  readonly cpuPerCall: number;
  readonly p50: number;
  readonly p99: number;
}

/** A ratio that has to be at least, or at most, so much. */
export interface Target {
  readonly name: string;
  readonly value: number;
  readonly wanted: string;
  readonly reached: boolean;
}

/** Throughput where it is bounded by the core and not by waiting: 32 connections. */
const AT = '32';

/**
 * Each ratio is the median of the ratios of the rounds, not the ratio of medians: what disturbs the machine for a while
 * disturbs both sides of a round.
 */
export function targetsOf(
  ratio: (of: Key, to: Key, what: 'callsPerSecond' | 'cpuPerCall', at: string) => number,
): Target[] {
  const atLeast = (name: string, value: number, limit: number): Target => ({
    name,
    value,
    wanted: `≥ ${limit}`,
    reached: value >= limit,
  });
  const atMost = (name: string, value: number, limit: number): Target => ({
    name,
    value,
    wanted: `≤ ${limit}`,
    reached: value <= limit,
  });
  return [
    atLeast('calls/s (d) : (b)', ratio('one', 'bare', 'callsPerSecond', AT), 0.85),
    atMost('CPU per call (d) : (b)', ratio('one', 'bare', 'cpuPerCall', AT), 1.2),
    atLeast('calls/s (e) : (b)', ratio('many', 'bare', 'callsPerSecond', AT), 0.8),
    atLeast('calls/s (d) : (c)', ratio('one', 'mcpProxy', 'callsPerSecond', AT), 4),
    atLeast('calls/s (f) : (e)', ratio('token', 'many', 'callsPerSecond', AT), 0.95),
    atLeast('calls/s (h) : (g)', ratio('inject', 'plain', 'callsPerSecond', AT), 0.9),
    atLeast('calls/s (i) : (g)', ratio('exchange', 'plain', 'callsPerSecond', AT), 0.9),
  ].filter(({ value }) => !Number.isNaN(value));
}

export function print(rows: readonly Row[], targets: readonly Target[], checks: readonly Check[]): string {
  const backend = rows.find(({ key }) => key === 'backend');
  const lines = [
    '| | CPU/call µs | calls/s 1 | 32 | 256 | added p50 ms 1 | 32 | 256 | added p99 ms 1 | 32 | 256 | RSS MB |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
  ];
  const connections = ['1', '32', '256'];
  for (const { key, name, at, rss } of rows) {
    const added = (what: 'p50' | 'p99') =>
      connections.map((count) => {
        const here = at[count]?.[what] ?? Number.NaN;
        const base = key === 'backend' ? 0 : (backend?.at[count]?.[what] ?? 0);
        return shown((here - base) / 1000, 2);
      });
    const speed = connections.map((count) => shown(at[count]?.callsPerSecond ?? Number.NaN, 0));
    const cells = [name, at[AT]?.cpuPerCall.toFixed(0), ...speed, ...added('p50'), ...added('p99'), rss.toFixed(0)];
    lines.push(`| ${cells.join(' | ')} |`);
  }
  lines.push('', '| ratio at 32 connections | found | wanted | |', '|---|--:|--:|---|');
  for (const { name, value, wanted, reached } of targets) {
    lines.push(`| ${name} | ${value.toFixed(2)} | ${wanted} | ${verdict(reached)} |`);
  }
  if (checks.length === 0) return lines.join('\n');
  lines.push('', '| check | found | at most | | |', '|---|--:|--:|---|---|');
  for (const { name, value, limit, unit, detail } of checks) {
    lines.push(`| ${name} | ${value.toFixed(1)} ${unit} | ${limit} ${unit} | ${verdict(value <= limit)} | ${detail} |`);
  }
  return lines.join('\n');
}

function verdict(reached: boolean): string {
  return reached ? 'ok' : '**missed**';
}

function shown(value: number, digits: number): string {
  return Number.isNaN(value) ? '' : value.toFixed(digits);
}
