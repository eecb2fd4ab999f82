/** Where the tokens of identity providers lie, sealed and bound to the grant, client and user they were given for. */

export { createDisconnect, type Disconnect } from './disconnect.ts';
export { isAboutUs } from './errors.ts';
export { createFreshTokens, type FreshTokens } from './fresh.ts';
export type { TokenOwner } from './place.ts';
export { createRevocations, type Revocations } from './revocations.ts';
export { createVault, type FoundEntry, type GrantVault, type Owner, type Vault, type VaultEntry } from './vault.ts';
