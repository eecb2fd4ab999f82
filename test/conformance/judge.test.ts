import { describe, expect, it } from 'vitest';
import type { Backend } from './configurations.ts';
import { judge, unexpected } from './judge.ts';
import { printed } from './report.ts';
import type { Check, Outcome, Status } from './suite.ts';

const LEGACY: Backend = { era: 'legacy', transport: 'http' };
const CONFIGURATION = { name: 'test', says: 'a test', gateway: 'run', backends: [LEGACY], at: ['2026-07-28'] } as const;

function outcome(scenarios: Readonly<Record<string, readonly Check[]>>): Outcome {
  return { requirements: '2026-07-28', scenarios: new Map(Object.entries(scenarios)), scored: true, seconds: 1 };
}

function check(id: string, status: Status, errorMessage?: string): Check {
  return { id, status, ...(errorMessage === undefined ? {} : { errorMessage }) };
}

describe('the judge of the conformance runs', () => {
  const bare = outcome({
    'tools-list': [check('tools-list', 'SUCCESS'), check('wire-schema-valid', 'SUCCESS')],
    'tasks-lifecycle': [check('tasks-created', 'FAILURE', 'no tasks here')],
  });

  it('finds nothing when every check ends as without the gateway', () => {
    expect(judge(CONFIGURATION, bare, bare)).toEqual([]);
  });

  it('finds a check that fails only behind the gateway, with its message', () => {
    const now = outcome({
      ...Object.fromEntries(bare.scenarios),
      'tools-list': [check('tools-list', 'FAILURE', 'Missing tools array'), check('wire-schema-valid', 'SUCCESS')],
    });
    const findings = judge(CONFIGURATION, bare, now);
    expect(unexpected(findings)).toEqual([
      { scenario: 'tools-list', check: 'tools-list', bare: 'SUCCESS', now: 'FAILURE', message: 'Missing tools array' },
    ]);
    const text = printed([{ configuration: CONFIGURATION, requirements: '2026-07-28', outcome: now, findings }]);
    expect(text).toContain('Missing tools array');
  });

  it('forgives what the bare fixture fails too', () => {
    const now = outcome({
      ...Object.fromEntries(bare.scenarios),
      'tasks-lifecycle': [check('tasks-created', 'FAILURE')],
    });
    expect(judge(CONFIGURATION, bare, now)).toEqual([]);
  });

  it.each(['WARNING', 'SKIPPED', 'INFO'] as const)('does not take %s for a pass', (status) => {
    const now = outcome({
      ...Object.fromEntries(bare.scenarios),
      'tools-list': [check('tools-list', status), check('wire-schema-valid', 'SUCCESS')],
    });
    expect(unexpected(judge(CONFIGURATION, bare, now))).toHaveLength(1);
  });

  it('finds a scenario that was not run, and a check that nobody reached', () => {
    const { 'tools-list': _, ...others } = Object.fromEntries(bare.scenarios);
    expect(unexpected(judge(CONFIGURATION, bare, outcome(others)))).toHaveLength(2);
  });

  it('finds a failure that the bare fixture never had', () => {
    const now = outcome({
      ...Object.fromEntries(bare.scenarios),
      'tasks-lifecycle': [check('tasks-created', 'FAILURE'), check('scenario-timeout', 'FAILURE', 'did not complete')],
    });
    expect(unexpected(judge(CONFIGURATION, bare, now)).map((finding) => finding.check)).toEqual(['scenario-timeout']);
  });

  it('counts the worst of a check that is reported twice', () => {
    const now = outcome({
      ...Object.fromEntries(bare.scenarios),
      'tools-list': [
        check('tools-list', 'FAILURE'),
        check('tools-list', 'SUCCESS'),
        check('wire-schema-valid', 'SUCCESS'),
      ],
    });
    expect(unexpected(judge(CONFIGURATION, bare, now))).toHaveLength(1);
  });

  it('accepts an exception only for its backend and its way to end', () => {
    const exception = {
      at: '2026-07-28',
      scenario: 'tools-list',
      check: 'tools-list',
      now: 'WARNING',
      when: ({ era }: Backend) => era === 'legacy',
      because: 'of a reason',
    } as const;
    const ending = (status: Status): Outcome =>
      outcome({
        ...Object.fromEntries(bare.scenarios),
        'tools-list': [check('tools-list', status), check('wire-schema-valid', 'SUCCESS')],
      });
    const modern = { ...CONFIGURATION, backends: [{ era: 'modern', transport: 'http' }] } as const;
    expect(unexpected(judge(CONFIGURATION, bare, ending('WARNING'), [exception]))).toEqual([]);
    expect(unexpected(judge(CONFIGURATION, bare, ending('FAILURE'), [exception]))).toHaveLength(1);
    expect(unexpected(judge(modern, bare, ending('WARNING'), [exception]))).toHaveLength(1);
  });
});
