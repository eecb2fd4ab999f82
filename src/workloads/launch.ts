import type { Secret } from '../base/index.ts';

/** The variables of a process, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What must run as a local process. A secret stays a `Secret` in here; only the spawn itself reveals it. */
export interface Launch {
  /** Which runtime it is made for. A plain process where nothing is said. */
  readonly kind?: 'process';
  /** The workload's name, for logs and errors. */
  readonly name: string;
  readonly command: string;
  /** Visible to every user of the machine through `ps`, so secrets never go here. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | Secret>>;
  readonly cwd?: string;
  /** The command is a package tool that fetches the server first, and gets its own settings from our environment. */
  readonly tool?: 'npm' | 'uv' | 'go';
}
