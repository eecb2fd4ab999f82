import type { RunConfig } from '../resources/index.ts';

/** The engine that was asked for by name; without one, any that answers will do. */
export function wantedEngine({ runtime }: Pick<RunConfig, 'runtime'>): 'docker' | 'podman' | undefined {
  return runtime === 'docker' || runtime === 'podman' ? runtime : undefined;
}
