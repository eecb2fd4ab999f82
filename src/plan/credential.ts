import { given, type Secret } from '../base/index.ts';
import type { FieldPath, ResourceOf } from '../resources/index.ts';
import { addressesFor } from './addresses.ts';
import type { BackendTarget, CredentialPlan } from './plan.ts';

type Config = ResourceOf<'MCPExternalAuthConfig'>;

export interface CredentialSources {
  readonly secretOf: (namespace: string, ref: { readonly name: string; readonly key: string }) => Secret;
  readonly refuse: (config: Config, path: FieldPath, message: string) => void;
}

/** Boundary 2 of one backend. The validator has seen that the block of the type is there. */
export function planCredential(
  config: Config | undefined,
  target: BackendTarget,
  { secretOf, refuse }: CredentialSources,
): CredentialPlan {
  if (!config || config.spec.type === 'unauthenticated') return { kind: 'none' };
  if (target.kind === 'stdio') {
    refuse(
      config,
      ['spec', 'type'],
      'cannot reach a server that speaks stdio: it has no headers to carry a credential',
    );
  }
  const { namespace } = config.metadata;
  const { upstreamInject, tokenExchange, headerInjection, bearerToken } = config.spec;
  if (upstreamInject) return { kind: 'upstream-inject', provider: upstreamInject.providerName };
  if (headerInjection) {
    const { headerName, valueSecretRef } = headerInjection;
    return { kind: 'header', name: headerName.toLowerCase(), value: secretOf(namespace, valueSecretRef) };
  }
  if (bearerToken) return { kind: 'bearer', token: secretOf(namespace, bearerToken.tokenSecretRef) };
  if (!tokenExchange) return { kind: 'none' };
  const { tokenUrl, clientId, clientSecretRef, audience, scopes, subjectProviderName } = tokenExchange;
  return {
    kind: 'token-exchange',
    tokenUrl,
    clientAuth: tokenExchange.clientAuthMethod,
    scopes,
    subjectTokenType: tokenExchange.subjectTokenType,
    header: (tokenExchange.externalTokenHeaderName ?? 'authorization').toLowerCase(),
    addresses: addressesFor(tokenUrl, tokenExchange.allowPrivateIPs),
    ...given({
      clientId,
      clientSecret: clientSecretRef && secretOf(namespace, clientSecretRef),
      audience,
      provider: subjectProviderName,
    }),
  };
}

/** The provider of the login whose token is shown, or exchanged. */
export function providerOf(config: Config | undefined): string | undefined {
  return config?.spec.upstreamInject?.providerName ?? config?.spec.tokenExchange?.subjectProviderName;
}
