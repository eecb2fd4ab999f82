/** Secret values from outside the resources: environment and files. They leave as `Secret`, which does not print itself. */
export {
  createSecretSource,
  type SecretRef,
  type SecretSource,
  type SecretSourceOptions,
  variableFor,
} from './secrets.ts';
