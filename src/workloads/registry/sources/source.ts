import type { Reading } from '../entry.ts';

/** Where entries come from. */
export interface RegistrySource {
  /** For people: `the built-in catalogue`, `the registry https://…`. */
  readonly label: string;
  /** Everything that is there. */
  read(options?: ReadOptions): Promise<Reading>;
  /** What could be meant by a name: at least every entry that has it, whole or as its last part. Absent where reading all is as cheap. */
  readNamed?(name: string, options?: ReadOptions): Promise<Reading>;
  readMatching?(query: string, options?: ReadOptions): Promise<Reading>;
}

export interface ReadOptions {
  /** Ask again even when a fresh copy is at hand. */
  readonly refresh?: boolean;
}
