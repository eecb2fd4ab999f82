import { SallyError } from '../base/index.ts';
import { type Access, isLoopback } from '../gateway/index.ts';
import type { GatewayPlan } from '../plan/index.ts';

/** From where an endpoint can be reached, and whether the operator insists. */
export interface Exposure {
  readonly access: Access;
  readonly insecureAllowAnonymous: boolean;
}

/** An endpoint that asks nobody who he is must not be open to everybody by accident. */
export function refuseExposed(
  { access: { host }, insecureAllowAnonymous }: Exposure,
  { name, incoming }: GatewayPlan,
): void {
  if (incoming.kind !== 'anonymous' || insecureAllowAnonymous || isLoopback(host)) return;
  throw new SallyError('listener.anonymous_exposed', `${name} asks for no authentication and would listen on ${host}`, {
    hint: 'listen on 127.0.0.1, ask for tokens (incomingAuth.type: oidc, --oidc-issuer), or insist with --insecure-allow-anonymous',
  });
}
