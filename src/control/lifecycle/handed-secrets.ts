import { SallyError, Secret } from '../../base/index.ts';
import type { RunConfig } from '../../resources/index.ts';
import { isSystemName, type ResolveSecrets } from '../../secrets/index.ts';
import type { SaidSecrets } from '../remote-flags.ts';

/** What the bearer token for a remote server is called among the values that were looked up. */
export const BEARER_TOKEN = 'REMOTE_BEARER_TOKEN';

/** The values that a supervisor needs, by their references. They reach it through a pipe, and stand nowhere else. */
export type HandedSecrets = Readonly<Record<string, string>>;

/**
 * Looks up every secret that a workload refers to. Commands do it for the supervisor: they may have a person in front of them
 * who can be asked for a password, and what is missing is told before anything is started.
 */
export async function gatherSecrets(config: RunConfig, resolve: ResolveSecrets): Promise<HandedSecrets> {
  const values: Record<string, string> = {};
  for (const references of referencesOf(config)) {
    if (references.length === 0) continue;
    const found = await resolve(references);
    for (const reference of references) {
      const value = found[targetOf(reference)];
      if (value) values[reference] = value.reveal();
    }
  }
  return values;
}

/** What a supervisor has instead of a store. */
export function handedResolver(handed: HandedSecrets): ResolveSecrets {
  return async (references) =>
    Object.fromEntries(
      references.map((reference) => {
        const value = Object.hasOwn(handed, reference) ? handed[reference] : undefined;
        if (value !== undefined) return [targetOf(reference), new Secret(value)] as const;
        throw new SallyError('secret.missing', `no value was handed over for ${reference}`, {
          hint: 'start the workload again; its configuration changed in between',
        });
      }),
    );
}

/** The same, with values that were said on the command line before anything is looked up. */
export function withSaid(resolve: ResolveSecrets, said: SaidSecrets): ResolveSecrets {
  return async (references) => {
    const own = references.filter((reference) => said.has(nameOf(reference)));
    const others = references.filter((reference) => !own.includes(reference));
    const found = others.length === 0 ? {} : await resolve(others);
    for (const reference of own) found[targetOf(reference)] = said.get(nameOf(reference)) as Secret;
    return found;
  };
}

/** What is kept for this workload alone, and referred to in its configuration: by name, with what it becomes. */
export function keptSecretsOf(config: RunConfig): ReadonlyMap<string, string> {
  const references = referencesOf(config).flat();
  return new Map(
    references
      .map((reference) => [nameOf(reference), targetOf(reference)] as const)
      .filter(([name]) => isSystemName(name)),
  );
}

/** In the groups in which they are looked up: a variable and a header may have one name. */
function referencesOf(config: RunConfig): readonly (readonly string[])[] {
  const { oidc_config, token_exchange_config, remote_auth_config } = config;
  return [
    config.secrets,
    headerReferencesOf(config),
    inStore(oidc_config?.client_secret_ref, oidcReferenceOf),
    inStore(token_exchange_config?.client_secret_ref, exchangeReferenceOf),
    inStore(remote_auth_config?.bearer_token_ref, bearerReferenceOf),
  ];
}

/** Of the places where a client secret is kept, only the store has to be asked by the command. */
function inStore(source: string | undefined, referenceOf: (secret: string) => string): readonly string[] {
  return source?.startsWith('secret:') ? [referenceOf(source.slice('secret:'.length))] : [];
}

export function headerReferencesOf({ header_forward }: RunConfig): readonly string[] {
  return Object.entries(header_forward?.add_headers_from_secret ?? {}).map(
    ([header, secret]) => `${secret},target=${header}`,
  );
}

export function oidcReferenceOf(secret: string): string {
  return `${secret},target=OIDC_CLIENT_SECRET`;
}

export function exchangeReferenceOf(secret: string): string {
  return `${secret},target=TOKEN_EXCHANGE_CLIENT_SECRET`;
}

export function bearerReferenceOf(secret: string): string {
  return `${secret},target=${BEARER_TOKEN}`;
}

function nameOf(reference: string): string {
  return reference.slice(0, reference.indexOf(',target='));
}

function targetOf(reference: string): string {
  return reference.slice(reference.indexOf(',target=') + ',target='.length);
}
