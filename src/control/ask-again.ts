import { SallyError, Secret } from '../base/index.ts';
import type { RunConfig } from '../resources/index.ts';
import { belongsTo } from '../secrets/index.ts';
import type { Ask } from '../workloads/registry/index.ts';
import type { Secrets } from './chosen/index.ts';
import { keptSecretsOf } from './lifecycle/handed-secrets.ts';
import type { SaidSecrets } from './remote-flags.ts';

interface Parts {
  readonly secrets: () => Promise<Secrets>;
  /** Absent where nobody can be asked. */
  readonly ask?: Ask;
}

/**
 * A configuration from elsewhere refers to values that were kept for its workload, and are kept nowhere here. The person at the
 * terminal is asked for them again.
 */
export async function askAgain(config: RunConfig, { secrets, ask }: Parts): Promise<SaidSecrets> {
  const said = new Map<string, Secret>();
  const missing: string[] = [];
  for (const [name, target] of keptSecretsOf(config)) {
    if (!belongsTo(name, 'workload', config.name) || (await (await secrets()).isKept(name))) continue;
    const answer = ask ? await ask.askHidden(`${target} (a secret of ${config.name}): `) : '';
    if (answer === '') missing.push(target);
    else said.set(name, new Secret(answer));
  }
  if (missing.length === 0) return said;
  throw new SallyError('secret.missing', `the file holds no secrets, and none is kept here for ${missing.join(', ')}`, {
    hint: 'run it at a terminal, where you are asked; or store each with sally secret set NAME, and write that NAME into the file',
  });
}
