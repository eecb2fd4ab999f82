import { type BackendTarget, DEFAULT_TIMEOUT, type GatewayPlan } from './plan.ts';

/** One server behind the same gate: its tools keep their names, and methods we do not know reach it too. */
export function planSingle(name: string, target: BackendTarget): GatewayPlan {
  return {
    name,
    paths: ['/mcp'],
    incoming: { kind: 'anonymous' },
    backends: [{ name, target, credential: { kind: 'none' }, timeout: DEFAULT_TIMEOUT }],
    naming: { kind: 'bare' },
  };
}
