import { SallyError, type Secret } from '../../base/index.ts';

export type ProviderKind = 'encrypted' | 'keyring' | 'environment' | '1password';

/** A place that keeps secrets of one user. Names are checked before they come here. */
export interface SecretProvider {
  readonly kind: ProviderKind;
  readonly canWrite: boolean;
  /** Where the values lie, for people: a phrase. */
  describe(): string;
  get(name: string): Promise<Secret | undefined>;
  set(name: string, value: Secret): Promise<void>;
  /** Whether there was such a secret. */
  delete(name: string): Promise<boolean>;
  /** The names, never the values, in order. */
  list(): Promise<readonly string[]>;
}

/** What a provider that only gives values out answers to the rest. */
export function readOnly(describe: string, instead: string): Pick<SecretProvider, 'canWrite' | 'set' | 'delete'> {
  const refuse = async (): Promise<never> => {
    throw new SallyError('secret.read_only', `secrets come from ${describe}, and nothing can be written there`, {
      hint: instead,
    });
  };
  return { canWrite: false, set: refuse, delete: refuse };
}
