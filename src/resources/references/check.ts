import type { Resource } from '../kinds/all.ts';
import type { ResourceSet } from '../resource-set.ts';
import type { SecretPlace } from '../secret-values.ts';
import type { Finding } from '../validate/problem.ts';
import { checkBackendNames } from './backend-names.ts';
import { checkEmbeddedServers } from './embedded-server.ts';
import { checkExistence } from './existence.ts';
import { checkStrategies } from './strategies.ts';

export interface Scope {
  readonly set: ResourceSet;
  /** Also true for a resource that has problems of its own: one mistake should not be reported at every reference to it. */
  readonly isDeclared: (kind: string, namespace: string, name: string) => boolean;
  readonly secretExists: (place: SecretPlace) => boolean;
  readonly secretHint: (place: SecretPlace) => string;
}

export interface ReferenceFinding extends Finding {
  readonly resource: Resource;
}

/** What one resource says about another and does not hold. */
export function* checkReferences(scope: Scope): Generator<ReferenceFinding> {
  yield* checkExistence(scope);
  yield* checkBackendNames(scope);
  yield* checkEmbeddedServers(scope);
  yield* checkStrategies(scope);
}
