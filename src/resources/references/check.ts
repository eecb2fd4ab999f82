import type { Resource } from '../kinds/all.ts';
import type { ResourceSet } from '../resource-set.ts';
import type { SecretPlace } from '../secret-values.ts';
import type { Finding } from '../validate/problem.ts';
import { checkBackendNames } from './backend-names.ts';
import { checkEmbeddedServers } from './embedded-server.ts';
import { checkExistence } from './existence.ts';
import { checkPorts } from './ports.ts';
import { checkSecretVariables } from './secret-variables.ts';
import { checkStrategies } from './strategies.ts';
import { checkToolNames } from './tool-names.ts';

export interface Scope {
  readonly set: ResourceSet;
  /** Also true for a resource that has problems of its own: one mistake should not be reported at every reference to it. */
  readonly isDeclared: (kind: string, namespace: string, name: string) => boolean;
  readonly secretExists: (place: SecretPlace) => boolean;
  readonly secretHint: (place: SecretPlace) => string;
  readonly secretVariable: ((place: SecretPlace) => string) | undefined;
}

export interface ReferenceFinding extends Finding {
  readonly resource: Resource;
}

/** What one resource says about another and does not hold. */
export function* checkReferences(scope: Scope): Generator<ReferenceFinding> {
  yield* checkExistence(scope);
  yield* checkSecretVariables(scope);
  yield* checkPorts(scope);
  yield* checkBackendNames(scope);
  yield* checkToolNames(scope);
  yield* checkEmbeddedServers(scope);
  yield* checkStrategies(scope);
}
