/** What this user chose on this machine, opened: his secrets and his registry. Loads no gateway, so that small commands stay fast. */
export { lookUpIn, type SettledInputs, type SettleParts, settleDeclared } from './inputs.ts';
export { chooseRegistry, openRegistry, type RegistryParts } from './registry.ts';
export { type ChosenProvider, chooseProvider, type SecretChoice } from './secret-setup.ts';
export { openSecrets, parseProvider, type SecretParts, type Secrets } from './secrets.ts';
