import { parseArgs } from 'node:util';
import { startIdentityProvider } from './provider.ts';

/**
 * A local OpenID provider to try Sallyport with, NOT FOR PRODUCTION: `node examples/identity-provider/main.ts [--port 4480]`.
 * `npm start` runs the same provider beside the gateway.
 */
const { values } = parseArgs({ options: { port: { type: 'string', default: '4480' } } });
const { issuer } = await startIdentityProvider(Number(values.port));
process.stdout.write(
  `Development identity provider at ${issuer}. It asks for no password: never use it in production.\n`,
);
