import type { GrantVault, Owner, Vault } from './vault.ts';

/** Whose token is wanted: a caller whose login is known. */
export interface TokenOwner {
  readonly subject: string;
  readonly clientId?: string;
  readonly grant?: string;
}

/** Where the tokens of one provider for one login lie. */
export interface Place {
  /** Names it in this process. */
  readonly key: string;
  readonly grantId: string;
  readonly provider: string;
  readonly owner: Owner;
  readonly rows: GrantVault;
}

/** There is none for a caller without a login: nothing can be asked for without saying whose it is. */
export function placeOf(owner: TokenOwner, provider: string, vault: Vault): Place | undefined {
  const { grant, clientId, subject } = owner;
  if (grant === undefined || clientId === undefined) return undefined;
  const key = keyOf(owner, provider);
  return { key, grantId: grant, provider, owner: { clientId, userId: subject }, rows: vault.of(grant) };
}

/** Its name alone, which is all that is needed where the token is at hand. */
export function keyOf({ grant, clientId, subject }: TokenOwner, provider: string): string {
  return JSON.stringify([grant, provider, clientId, subject]);
}
