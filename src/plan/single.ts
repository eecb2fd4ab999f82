import type { BackendPlan, BackendTarget, GatewayPlan, IncomingPlan } from './plan.ts';

/** How a server is treated when nobody said otherwise. */
export const DEFAULT_BACKEND: Pick<BackendPlan, 'revision' | 'timeout' | 'breaker' | 'health'> = {
  revision: 'auto',
  timeout: 300_000,
  breaker: { enabled: true, threshold: 5, timeout: 60_000 },
  health: { interval: 30_000, timeout: 10_000, threshold: 3 },
};

/** One server behind the same gate: its tools keep their names, and methods we do not know reach it too. */
export function planSingle(
  name: string,
  target: BackendTarget,
  settings: Partial<Omit<BackendPlan, 'name' | 'target'>> = {},
  incoming: IncomingPlan = { kind: 'anonymous' },
): GatewayPlan {
  return {
    name,
    paths: ['/mcp'],
    incoming,
    backends: [{ name, target, credential: { kind: 'none' }, ...DEFAULT_BACKEND, ...settings }],
    aggregation: { kind: 'single' },
  };
}
