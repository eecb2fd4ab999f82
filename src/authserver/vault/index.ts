/** Where the tokens of identity providers lie, sealed and bound to the grant, client and user they were given for. */

export { createFreshTokens, type FreshTokens } from './fresh.ts';
export type { TokenOwner } from './place.ts';
export { createRevocations, type Revocations } from './revocations.ts';
export { createVault, type FoundEntry, type GrantVault, type Owner, type Vault, type VaultEntry } from './vault.ts';
