import type { NamingPlan } from '../../plan/index.ts';

/** What a backend's tool is called outside. A pure function of the configuration: the same tool has the same name on every replica. */
export function exposedName(naming: NamingPlan, backend: string, tool: string): string {
  switch (naming.kind) {
    case 'bare':
      return tool;
    case 'prefix':
      return naming.format.replaceAll('{workload}', () => backend) + tool;
  }
}
