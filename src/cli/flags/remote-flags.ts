import { type Command, Option } from 'commander';

/** The flags of `run` and `update` for a server at a URL. What they mean is decided in `control`. */
export function addRemoteFlags(command: Command): Command {
  return command
    .option(
      '--remote-forward-headers <Name=Value>',
      'header for a server at a URL, kept as a secret, repeatable; others on this machine see it while the command runs',
      collect,
    )
    .option(
      '--remote-forward-headers-secret <Name=SECRET-NAME>',
      'header for a server at a URL with a value of the store of secrets, repeatable',
      collect,
    )
    .addOption(
      new Option(
        '--remote-auth-bearer-token <token>',
        'bearer token for a server at a URL, kept as a secret; others on this machine see it while the command runs',
      ).conflicts('remoteAuthBearerTokenFile'),
    )
    .option('--remote-auth-bearer-token-file <file>', 'file with that token, read at each start');
}

/** Taken as it is: what commander says about a value that does not fit repeats the value. */
function collect(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}
