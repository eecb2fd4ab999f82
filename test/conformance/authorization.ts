import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startRecordingServer } from '../support/recording-server.ts';
import { tempFolder } from '../support/sally.ts';
import type { Requirements } from './configurations.ts';
import type { Finding } from './judge.ts';
import { startLoginStand } from './login-stand.ts';
import type { RunOptions } from './run.ts';
import { type Outcome, runAuthorizationSuite } from './suite.ts';

/** The authorization server held against one revision. There is nothing to compare it with: every check has to pass. */
export interface AuthorizationResult {
  readonly requirements: Requirements;
  readonly outcome: Outcome;
  readonly findings: readonly Finding[];
}

export const AUTHORIZATION_AT: readonly Requirements[] = ['2025-11-25', '2026-07-28'];

export async function runAuthorization(
  at: readonly Requirements[],
  { keep, signal }: Pick<RunOptions, 'keep' | 'signal'> = {},
): Promise<AuthorizationResult[]> {
  await using temp = await tempFolder();
  await using backend = await startRecordingServer();
  await using stand = await startLoginStand({ one: backend.url });
  const results: AuthorizationResult[] = [];
  for (const requirements of at) {
    const folder = join(keep ?? temp.path, `authorization@${requirements}`);
    await mkdir(folder, { recursive: true });
    const outcome = await runAuthorizationSuite(await stand.register(), requirements, folder, signal);
    results.push({ requirements, outcome, findings: findingsOf(outcome) });
  }
  return results;
}

function findingsOf({ scenarios }: Outcome): Finding[] {
  return [...scenarios].flatMap(([scenario, checks]) =>
    checks
      .filter(({ status }) => status !== 'SUCCESS')
      .map(({ id, status, errorMessage = 'no message' }) => ({
        scenario,
        check: id,
        bare: 'absent' as const,
        now: status,
        message: errorMessage,
      })),
  );
}
