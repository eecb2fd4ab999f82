import { z } from 'zod';
import { parseDuration } from '../../base/index.ts';
import { TimerDuration } from '../fields/duration.ts';
import { DnsLabel } from '../fields/names.ts';
import { withRules } from '../traits.ts';

const Count = z.int().min(1).max(1000);
const ms = (text: string): number => parseDuration(text) ?? Number.NaN;

const Timeouts = z.strictObject({
  default: TimerDuration.default('30s').describe(
    'How long a backend may stay silent over one request. Each progress message of the backend starts the time anew.',
  ),
  perWorkload: z
    .record(DnsLabel, TimerDuration)
    .default({})
    .describe('The same for single backends; the key is the name of a backend in the group.'),
});

const CircuitBreaker = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      'Answer calls to a backend that keeps failing with an error at once, instead of letting each of them wait.',
    ),
  failureThreshold: Count.default(5).describe(
    'Failures in a row, of calls or health checks, after which calls are refused.',
  ),
  timeout: TimerDuration.default('60s').describe(
    'How long they are refused before one call may try again; at least 1s.',
  ),
});
export type CircuitBreaker = z.output<typeof CircuitBreaker>;

withRules(CircuitBreaker, [
  {
    at: 'timeout',
    says: 'must be at least 1s',
    holds: ({ timeout }) => ms(timeout) >= 1_000,
    cel: "duration(self.timeout) >= duration('1s')",
  },
]);

const FailureHandling = z.strictObject({
  healthCheckInterval: TimerDuration.default('30s').describe('Time between two health checks of a backend.'),
  healthCheckTimeout: TimerDuration.default('10s').describe(
    'How long a health check may take; less than `healthCheckInterval`.',
  ),
  unhealthyThreshold: Count.default(3).describe(
    'Failed checks in a row after which a backend counts as down. Its last known entries are still listed.',
  ),
  circuitBreaker: CircuitBreaker.prefault({}).describe('Protects callers from waiting for a backend that is down.'),
  partialFailureMode: z
    .enum(['best_effort'], {
      error:
        'must be `best_effort` or left out: a failing backend never takes the lists of the others with it, so `fail` is not offered',
    })
    .optional()
    .describe(
      'Has no effect: lists always carry what the other backends offer. Accepted because manifests for ToolHive have it.',
    ),
});
export type FailureHandling = z.output<typeof FailureHandling>;

withRules(FailureHandling, [
  {
    at: 'healthCheckTimeout',
    says: 'must be less than healthCheckInterval',
    holds: ({ healthCheckInterval, healthCheckTimeout }) => ms(healthCheckTimeout) < ms(healthCheckInterval),
    cel: 'duration(self.healthCheckTimeout) < duration(self.healthCheckInterval)',
  },
]);

export const Operational = z.strictObject({
  timeouts: Timeouts.prefault({}).describe('How long to wait for backends.'),
  failureHandling: FailureHandling.prefault({}).describe('When a backend counts as down, and what happens then.'),
});
export type Operational = z.output<typeof Operational>;
