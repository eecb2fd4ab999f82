import type { Aggregation, BackendTools } from '../resources/index.ts';
import type { AggregationPlan, ConflictPlan, ToolsPlan } from './plan.ts';

/** What a virtual server says about the tools of its backends, with names in maps: a tool may be called `constructor`. */
export function planAggregation(aggregation: Aggregation): AggregationPlan {
  return {
    kind: 'many',
    conflicts: planConflicts(aggregation),
    tools: new Map(aggregation.tools.map((entry) => [entry.workload, planTools(entry)])),
    offerOthers: aggregation.defaultToolVisibility === 'allow',
    offerNone: aggregation.excludeAllTools,
  };
}

function planConflicts({ conflictResolution, conflictResolutionConfig }: Aggregation): ConflictPlan {
  const { prefixFormat: format, priorityOrder: order } = conflictResolutionConfig;
  switch (conflictResolution) {
    case 'prefix':
      return { kind: 'prefix', format };
    case 'priority':
      return { kind: 'priority', order, format };
    case 'manual':
      return { kind: 'manual' };
  }
}

function planTools({ filter, overrides, excludeAll }: BackendTools): ToolsPlan {
  const changes = Object.entries(overrides).map(([tool, { name, description, annotations }]) => {
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
      ...(annotations === undefined ? {} : { annotations }),
    };
    return [tool, change] as const;
  });
  return { filter: new Set(filter), overrides: new Map(changes), excludeAll };
}
