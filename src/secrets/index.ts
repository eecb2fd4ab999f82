/**
 * Secret values from outside the resources: for declared ones environment and files, for what a user runs a store of his
 * own (encrypted file, keyring, environment, 1Password). They leave as `Secret`, which does not print itself.
 */
export { belongsTo, checkSecretName, isSystemName, systemName } from './names.ts';
export { type EncryptedOptions, encryptedProvider } from './providers/encrypted.ts';
export { environmentProvider, secretVariable } from './providers/environment.ts';
export { type FindKeyring, findSystemKeyring, type Keyring, keyringProvider } from './providers/keyring.ts';
export { onePasswordProvider } from './providers/one-password.ts';
export { type AskHidden, createPasswordSource, type PasswordSource } from './providers/password.ts';
export type { ProviderKind, SecretProvider } from './providers/provider.ts';
export type { ScryptCost } from './providers/sealed-file.ts';
export {
  parseSecretFlag,
  parseSecretReference,
  type ResolveSecrets,
  resolveReferences,
  type SecretReference,
} from './references.ts';
export { readSecretFile } from './secret-file.ts';
export {
  createSecretSource,
  type SecretRef,
  type SecretSource,
  type SecretSourceOptions,
  variableFor,
} from './secrets.ts';
