import type { BackendTools } from '../blocks/aggregation.ts';
import type { Finding } from '../validate/problem.ts';
import type { ReferenceFinding, Scope } from './check.ts';

/**
 * The names that overrides give, held against each other. No rule of the schema: comparing every pair costs more than
 * the API server grants a rule.
 */
export function* checkToolNames({ set }: Scope): Generator<ReferenceFinding> {
  for (const resource of set.virtualMcpServers) {
    for (const [index, tools] of resource.spec.config.aggregation.tools.entries()) {
      for (const { path, ...finding } of [...sharedNames(tools), ...formerNames(tools)]) {
        yield { resource, path: ['spec', 'config', 'aggregation', 'tools', index, ...path], ...finding };
      }
    }
  }
}

/** Two tools under one name: only one of them could be called. */
function* sharedNames({ overrides }: BackendTools): Generator<Finding> {
  const owners = new Map<string, string>();
  for (const [tool, { name }] of Object.entries(overrides)) if (name === undefined) owners.set(tool, tool);
  for (const [tool, { name }] of Object.entries(overrides)) {
    if (name === undefined) continue;
    const owner = owners.get(name);
    if (owner !== undefined) {
      const message = `is the name of another tool of this backend: \`${owner}\` ${owner === name ? 'keeps it' : 'gets it too'}`;
      yield { path: ['overrides', tool, 'name'], message };
    } else owners.set(name, tool);
  }
}

/** A filter with the name that a tool had before would hide the tool it means. */
function* formerNames({ filter, overrides }: BackendTools): Generator<Finding> {
  const given = new Set(Object.values(overrides).map(({ name }) => name));
  for (const [index, tool] of filter.entries()) {
    // A tool may be called `constructor`: only the map's own keys count.
    const renamed = Object.hasOwn(overrides, tool) ? overrides[tool]?.name : undefined;
    if (renamed === undefined || renamed === tool || given.has(tool)) continue;
    const message = 'is the name from before overrides; filter takes the name they give';
    yield { path: ['filter', index], message, hint: `write \`${renamed}\`` };
  }
}
