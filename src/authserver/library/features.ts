import { randomUUID } from 'node:crypto';
import { type Client, type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { AuthServerPlan } from '../../plan/index.ts';
import type { ClientDocuments } from '../clients/documents.ts';

type Features = NonNullable<Configuration['features']>;

const OFF = { enabled: false } as const;

/** Everything that the library can do, switched on or off here and not by its defaults. */
export function featuresOf(
  plan: AuthServerPlan,
  documents: ClientDocuments,
  resourceIndicators: NonNullable<Features['resourceIndicators']>,
): Features {
  return {
    resourceIndicators,
    // RFC 9449, for clients that bring proofs. Nonces would cost each of them a second request and win little over 5 minutes.
    dPoP: { enabled: true, requireNonce: () => false },
    revocation: { enabled: true, allowedPolicy: isOwn },
    // For resource servers that the operator gave a secret. Where there are none, nobody could ask.
    introspection: {
      enabled: plan.clients.some(({ secret }) => secret !== undefined),
      allowedPolicy: (ctx, client, token) =>
        client.clientAuthMethod !== 'none' && (token.kind !== 'RefreshToken' || isOwn(ctx, client, token)),
    },
    registration: {
      enabled: plan.registration.dynamic,
      initialAccessToken: false,
      issueRegistrationAccessToken: false,
      idFactory: () => randomUUID(),
      secretFactory: () => {
        // parseClientMetadata lets no client through that would need one.
        throw new errors.InvalidClientMetadata('clients with a secret are configured by the operator');
      },
    },
    clientIdMetadataDocument: {
      enabled: plan.registration.metadataDocuments,
      ack: 'draft-02',
      allowFetch: (_ctx, clientId) => documents.mayFetch(clientId),
      // Judged when it was fetched: what is in the cache is what we made of the document.
      allowClient: () => true,
      cacheDuration: { min: 30, max: 24 * 60 * 60 },
    },
    // Access tokens are for the resource and no use here, so there is nothing to ask with.
    userinfo: OFF,
    rpInitiatedLogout: OFF,
    backchannelLogout: OFF,
    registrationManagement: OFF,
    clientCredentials: OFF,
    deviceFlow: OFF,
    pushedAuthorizationRequests: OFF,
    requestObjects: OFF,
    claimsParameter: OFF,
    jwtResponseModes: OFF,
    jwtIntrospection: OFF,
    jwtUserinfo: OFF,
    encryption: OFF,
    mTLS: OFF,
    ciba: OFF,
    fapi: OFF,
    richAuthorizationRequests: OFF,
    webMessageResponseMode: OFF,
    rpMetadataChoices: OFF,
    devInteractions: OFF,
  } as Features;
}

/** False is answered like success: RFC 7009 §2.2 tells nobody which tokens exist. */
function isOwn(_ctx: KoaContextWithOIDC, client: Client, token: { readonly clientId?: string | undefined }): boolean {
  return token.clientId === client.clientId;
}
