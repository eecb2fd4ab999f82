import { type Command, Option } from 'commander';

/** The flags of `sally run` that say which token the server gets in exchange for the one a caller shows. */
export function addTokenExchangeOptions(command: Command): Command {
  const scopes = (text: string, earlier: readonly string[] = []): readonly string[] => [
    ...earlier,
    ...text.split(/[,\s]+/).filter((scope) => scope !== ''),
  ];
  return command
    .option('--token-exchange-url <url>', 'give the server a token made here in exchange for the one of the caller')
    .option('--token-exchange-audience <audience>', 'what that token must be meant for')
    .option('--token-exchange-client-id <id>', 'who we are at that endpoint')
    .addOption(
      new Option(
        '--token-exchange-client-secret <secret>',
        'the secret that goes with it; others on this machine see it, rather set SALLYPORT_TOKEN_EXCHANGE_CLIENT_SECRET',
      ).conflicts('tokenExchangeClientSecretFile'),
    )
    .option('--token-exchange-client-secret-file <file>', 'file with that secret')
    .option('--token-exchange-scopes <scopes>', 'scopes of that token, with commas, repeatable', scopes)
    .option('--token-exchange-header-name <name>', 'header that carries it (default: Authorization)')
    .addOption(
      new Option(
        '--token-exchange-subject-token-type <type>',
        'what the token of the caller is (default: access_token)',
      ).choices(['access_token', 'id_token', 'jwt']),
    );
}
