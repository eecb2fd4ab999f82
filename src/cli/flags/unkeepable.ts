import { SallyError } from '../../base/index.ts';
import type { RunFlags } from '../../control/configuring/index.ts';

/** A workload is started again without its command line, and the value of a secret is kept nowhere. */
export function refuseUnkeepable(flags: RunFlags): void {
  if (flags.oidcClientSecret !== undefined) throw unkeepable('oidc-client-secret');
  if (flags.tokenExchangeClientSecret !== undefined) throw unkeepable('token-exchange-client-secret');
}

function unkeepable(flag: string): SallyError {
  const variable = `SALLYPORT_${flag.toUpperCase().replaceAll('-', '_')}`;
  return new SallyError('usage.invalid', `--${flag} cannot be kept for the next start`, {
    hint: `use --${flag}-file, set ${variable}, or run in the foreground with: sally run -f`,
  });
}
