import type { Backend, Requirements } from './configurations.ts';
import type { Finding } from './judge.ts';

/** A check that a gateway answers otherwise than the bare fixture, and is right to. */
export interface Exception {
  readonly at: Requirements;
  readonly scenario: string;
  readonly check: string;
  /** How it may end instead. Any other end is unexpected. */
  readonly now: Finding['now'];
  /** Backends with which it does. */
  readonly when: (backend: Backend) => boolean;
  readonly because: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    at: '2025-11-25',
    scenario: 'server-sse-multiple-streams',
    check: 'server-sse-streams-functional',
    now: 'INFO',
    when: () => true,
    because:
      'the gateway answers a list with plain JSON, which the suite calls optional; the fixture streams every answer',
  },
  {
    at: '2025-11-25',
    scenario: 'server-sse-polling',
    check: 'server-sse-disconnect-resume',
    now: 'INFO',
    when: () => true,
    because:
      'a backend that closes its stream, or cannot, is no reason to close ours: the gateway reconnects and the client gets the answer on the stream it has',
  },
  {
    at: '2026-07-28',
    scenario: 'input-required-result-capability-check',
    check: 'sep-2322-respect-client-capabilities',
    now: 'FAILURE',
    when: ({ era, sessionMode }) => era === 'legacy' && sessionMode === 'shared',
    because:
      'a legacy process that serves all clients is told once what any of them could be asked; who needs more exactness gives each client a process (--session-mode per-session)',
  },
  {
    at: '2026-07-28',
    scenario: 'input-required-result-ignore-extra-params',
    check: 'sep-2322-ignore-unexpected-params',
    now: 'WARNING',
    when: ({ era }) => era === 'legacy',
    because:
      'the suite answers before it was asked; a legacy server names its question only when it asks, so the gateway asks again',
  },
];
