import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startIdentityProvider } from './provider.ts';

/**
 * A local OpenID provider to try Sallyport with, NOT FOR PRODUCTION:
 *
 *     node examples/identity-provider/main.ts [--port 4480] [--name NAME] [--client-secret-file FILE]
 *
 * `npm start` runs the same provider beside the gateway. With a secret its client has to prove who it is, and may exchange tokens.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4480' },
    name: { type: 'string', default: 'development' },
    'client-secret-file': { type: 'string' },
  },
});
const file = values['client-secret-file'];
const { issuer } = await startIdentityProvider(Number(values.port), {
  name: values.name,
  ...(file === undefined ? {} : { clientSecret: readFileSync(file, 'utf8').trim() }),
});
process.stdout.write(
  `Identity provider ${values.name} at ${issuer}, for development. It asks for no password: never use it in production.\n`,
);
