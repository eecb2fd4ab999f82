import type { BackendTarget } from '../plan/index.ts';
import type { PlannedWorkload } from './workloads.ts';

/** Where a gateway finds a server that we run. */
export function toTarget(planned: PlannedWorkload, shared: boolean): BackendTarget {
  switch (planned.kind) {
    case 'stdio':
      return { kind: 'stdio', workload: planned.key, shared };
    case 'streamable-http':
    case 'sse':
      return {
        kind: planned.kind,
        url: planned.url,
        addresses: 'private',
        headers: {},
        workload: planned.key,
        ...(planned.socket === undefined ? {} : { socket: planned.socket }),
      };
  }
}
