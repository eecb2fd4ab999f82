import { defineConfig } from 'vitest/config';

/** `unit` lies beside the code and touches no network; `integration` starts the real thing. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/*.test.ts'],
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/{integration,security,conformance}/**/*.test.ts'],
          globalSetup: 'test/support/prepare.ts',
          testTimeout: 30_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
