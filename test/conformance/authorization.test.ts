import { describe, expect, it } from 'vitest';
import { AUTHORIZATION_AT, runAuthorization } from './authorization.ts';

/** By the suite's own list (`conformance list --authorization`). Another one that it gets has to be looked at. */
const SCENARIOS = ['authorization-code-grant', 'authorization-server-metadata-endpoint'];

describe('the official conformance suite, as a client of the authorization server', () => {
  it.each(AUTHORIZATION_AT)(
    'passes every check at %s, with a login through two providers',
    { timeout: 120_000 },
    async (requirements) => {
      const [result] = await runAuthorization([requirements]);
      expect([...(result?.outcome.scenarios.keys() ?? [])].sort()).toEqual(SCENARIOS);
      expect(result?.findings).toEqual([]);
      expect(result?.outcome.scored).toBe(true);
    },
  );
});
