import { defineConfig } from 'vitest/config';

const REAL_THING = {
  globalSetup: 'test/support/prepare.ts',
  testTimeout: 30_000,
  hookTimeout: 120_000,
};

/**
 * `unit` lies beside the code and touches no network; `integration` starts the real thing; `engines` starts Docker and Podman, one of each
 * for all its files.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/*.test.ts'],
          // A machine that does something else as well is no failure.
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/{integration,security,conformance}/**/*.test.ts'],
          ...REAL_THING,
          // They wait for processes more than they compute.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'engines',
          include: ['test/engines/**/*.test.ts'],
          ...REAL_THING,
          globalSetup: [REAL_THING.globalSetup, 'test/support/shared-engines.ts'],
          maxWorkers: 2,
          maxConcurrency: 3,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
