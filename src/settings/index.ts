/**
 * What this user chose on this machine, in `config.yaml`: where secrets are kept and which registry is asked. No secret
 * value is ever written here, and nothing that was declared for a workload.
 */
export { changeSettings, readSettings, settingsFile } from './file.ts';
export type { KeySource, ProviderName, RegistrySettings, SecretSettings, Settings } from './settings.ts';
export { PROVIDERS } from './settings.ts';
