import { z } from 'zod';
import { DURATION_PATTERN, parseDuration } from '../../base/index.ts';

/** A time span longer than nothing, written as in Go. */
export const Duration = z
  .string()
  .max(64)
  .regex(DURATION_PATTERN, { error: 'must be a duration such as `30s`, `10m` or `1h30m`', abort: true })
  .refine((text) => (parseDuration(text) ?? 0) > 0, 'must be longer than zero')
  .meta({ title: 'duration' });

const DAY = 24 * 3_600_000;

/** A time span that a timer waits for. Timers of Node overflow after 24 days and then fire at once. */
export const TimerDuration = Duration.refine(
  (text) => (parseDuration(text) ?? Number.POSITIVE_INFINITY) <= DAY,
  'must be at most 24h',
).meta({ title: 'duration' });
