/** The revisions whose requirements the suite knows. */
export type Requirements = '2025-11-25' | '2026-07-28';

export interface Backend {
  readonly era: 'legacy' | 'modern' | 'dual';
  readonly transport: 'http' | 'stdio' | 'sse';
  /** Of a stdio server: one process for all clients, or one for each. */
  readonly sessionMode?: 'shared' | 'per-session';
}

/** One way to put the gateway between the suite and the fixture. */
export interface Configuration {
  readonly name: string;
  readonly says: string;
  /**
   * None: the suite talks to the fixture itself. Run: `sally run`, one backend. Folder: `sally vmcp serve`, one backend for each
   * third. Login: the same with one backend, behind an authorization server of its own.
   */
  readonly gateway: 'none' | 'run' | 'folder' | 'login';
  readonly backends: readonly [Backend, ...Backend[]];
  readonly at: readonly [Requirements, ...Requirements[]];
}

const LEGACY: Backend = { era: 'legacy', transport: 'http' };
const MODERN: Backend = { era: 'modern', transport: 'http' };
const DUAL: Backend = { era: 'dual', transport: 'http' };

/** What everything is measured against: the fixture alone, in the era that the requirements are about. */
export const BASELINES: Readonly<Record<Requirements, Configuration>> = {
  '2025-11-25': {
    name: 'bare-legacy',
    says: 'the legacy fixture, no gateway',
    gateway: 'none',
    backends: [LEGACY],
    at: ['2025-11-25'],
  },
  '2026-07-28': {
    name: 'bare-modern',
    says: 'the modern fixture, no gateway',
    gateway: 'none',
    backends: [MODERN],
    at: ['2026-07-28'],
  },
};

export const CONFIGURATIONS: readonly Configuration[] = [
  one('legacy', 'one legacy backend', LEGACY, ['2025-11-25', '2026-07-28']),
  one('modern', 'one modern backend', MODERN, ['2026-07-28', '2025-11-25']),
  one('dual', 'one backend of both eras', DUAL, ['2025-11-25', '2026-07-28']),
  split('legacy', 'three legacy backends', [LEGACY, LEGACY, LEGACY], ['2025-11-25', '2026-07-28']),
  split('modern', 'three modern backends', [MODERN, MODERN, MODERN], ['2026-07-28', '2025-11-25']),
  split('mixed', 'a legacy, a modern and a dual backend', [LEGACY, MODERN, DUAL], ['2025-11-25', '2026-07-28']),
  one('stdio-legacy', 'one legacy backend over stdio, a process for each client', {
    era: 'legacy',
    transport: 'stdio',
    sessionMode: 'per-session',
  }),
  one('stdio-shared', 'one legacy backend over stdio, one process for all', {
    era: 'legacy',
    transport: 'stdio',
    sessionMode: 'shared',
  }),
  one('stdio-modern', 'one modern backend over stdio', { era: 'modern', transport: 'stdio' }),
  {
    name: 'login',
    says: 'one backend of both eras, for callers with a token of the authorization server in front of it',
    gateway: 'login',
    backends: [DUAL],
    at: ['2025-11-25', '2026-07-28'],
  },
  one('sse', 'one backend over HTTP+SSE of 2024-11-05', { era: 'legacy', transport: 'sse' }),
];

function one(
  name: string,
  says: string,
  backend: Backend,
  at: Configuration['at'] = ['2025-11-25', '2026-07-28'],
): Configuration {
  return { name: `one-${name}`.replace(/^one-(stdio|sse)/, '$1'), says, gateway: 'run', backends: [backend], at };
}

function split(
  name: string,
  says: string,
  backends: Configuration['backends'],
  at: Configuration['at'],
): Configuration {
  return { name: `split-${name}`, says: `${says}, aggregated`, gateway: 'folder', backends, at };
}
