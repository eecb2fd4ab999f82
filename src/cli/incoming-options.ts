import { type Command, Option } from 'commander';

/** The flags of `sally run` that say how callers prove who they are. */
export function addIncomingOptions(command: Command): Command {
  const scopes = (text: string, earlier: readonly string[] = []): readonly string[] => [
    ...earlier,
    ...text.split(/[,\s]+/).filter((scope) => scope !== ''),
  ];
  return command
    .option('--oidc-issuer <url>', 'ask callers for a token of this issuer')
    .option('--oidc-audience <audience>', 'what tokens must be meant for; usually the public URL of this endpoint')
    .option('--oidc-client-id <id>', 'who we are when we ask the issuer about opaque tokens')
    .addOption(
      new Option(
        '--oidc-client-secret <secret>',
        'the secret that goes with it; others on this machine see it, rather set SALLYPORT_OIDC_CLIENT_SECRET',
      ).conflicts('oidcClientSecretFile'),
    )
    .option('--oidc-client-secret-file <file>', 'file with that secret')
    .option('--oidc-introspection-url <url>', 'where the issuer is asked about opaque tokens; discovered with a secret')
    .option('--oidc-jwks-url <url>', 'where the keys of the issuer are; discovered when left out')
    .option('--oidc-scopes <scopes>', 'scopes told to clients, with commas, repeatable (default: openid)', scopes)
    .option('--oidc-required-scopes <scopes>', 'scopes that every token must have, with commas, repeatable', scopes)
    .option('--oidc-insecure-allow-http', 'allow plain http to the issuer; for development only')
    .option('--jwks-allow-private-ip', 'allow an issuer at a private address or on this machine')
    .option('--jwks-auth-token-file <file>', 'file with a bearer token for discovery and keys, read for each request')
    .option('--resource-url <url>', 'public URL of this endpoint, told to clients (RFC 9728)');
}
