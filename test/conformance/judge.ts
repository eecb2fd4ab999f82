import type { Configuration, Requirements } from './configurations.ts';
import { EXCEPTIONS, type Exception } from './exceptions.ts';
import type { Check, Outcome, Status } from './suite.ts';

/** A check that went better without the gateway. */
export interface Finding {
  readonly scenario: string;
  readonly check: string;
  /** As the bare fixture did; absent when it never got as far as this check. */
  readonly bare: Status | 'absent';
  readonly now: Status | 'absent';
  readonly message: string;
  /** Why that is right all the same. Without it the finding is unexpected. */
  readonly because?: string;
}

/** From good to bad. A check that is merely told (INFO) or not made (SKIPPED) proves nothing, so it is worse than a pass. */
const ORDER: readonly Status[] = ['SUCCESS', 'INFO', 'SKIPPED', 'WARNING', 'FAILURE'];

/**
 * Holds a run against the bare fixture's, check by check. The rule is the issue's: no check that the bare fixture passes
 * may end otherwise, and no check may fail that the bare fixture never saw fail.
 */
export function judge(
  configuration: Pick<Configuration, 'name' | 'backends'>,
  bare: Outcome,
  now: Outcome,
  exceptions: readonly Exception[] = EXCEPTIONS,
): Finding[] {
  const all: Finding[] = [];
  for (const scenario of new Set([...bare.scenarios.keys(), ...now.scenarios.keys()])) {
    const findings: Finding[] = [];
    const [before, after] = [worst(bare.scenarios.get(scenario)), worst(now.scenarios.get(scenario))];
    for (const id of new Set([...before.keys(), ...after.keys()])) {
      const [was, is] = [before.get(id), after.get(id)];
      if (!isWorse(was?.status, is?.status)) continue;
      const finding = {
        scenario,
        check: id,
        bare: was?.status ?? 'absent',
        now: is?.status ?? 'absent',
        message: is?.errorMessage ?? (is ? `${is.status}, no message` : 'the scenario ended before this check'),
      } as const;
      const because = exceptions.find((exception) => applies(exception, configuration, now.requirements, finding));
      findings.push(because ? { ...finding, because: because.because } : finding);
    }
    all.push(...withoutEchoes(findings));
  }
  return all;
}

/** After a check failed a scenario often ends, and those behind it are absent; the failure has said it all. */
function withoutEchoes(findings: readonly Finding[]): readonly Finding[] {
  const failed = unexpected(findings).some(({ now }) => now === 'FAILURE' || now === 'WARNING');
  return failed ? findings.filter(({ now }) => now !== 'absent') : findings;
}

export function unexpected(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ because }) => because === undefined);
}

function isWorse(was: Status | undefined, is: Status | undefined): boolean {
  if (was === 'SUCCESS') return is !== 'SUCCESS';
  if (was === undefined) return is === 'FAILURE' || is === 'WARNING';
  return is !== undefined && is !== 'SKIPPED' && ORDER.indexOf(is) > ORDER.indexOf(was);
}

/** A scenario may report one check several times; the worst of them counts. */
function worst(checks: readonly Check[] = []): Map<string, Check> {
  const seen = new Map<string, Check>();
  for (const check of checks) {
    const other = seen.get(check.id);
    if (!other || ORDER.indexOf(check.status) > ORDER.indexOf(other.status)) seen.set(check.id, check);
  }
  return seen;
}

function applies(
  { scenario, check, now, at, when }: Exception,
  { backends }: Pick<Configuration, 'backends'>,
  requirements: Requirements,
  finding: Finding,
): boolean {
  return (
    scenario === finding.scenario &&
    check === finding.check &&
    now === finding.now &&
    at === requirements &&
    backends.some(when)
  );
}
