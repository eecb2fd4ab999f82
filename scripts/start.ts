import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type IdentityProvider, startIdentityProvider } from '../examples/identity-provider/provider.ts';

/**
 * `npm start`, after the build: the quickstart with both boundaries, and beside it an identity provider to log in with.
 *
 *     npm start [-- [--anonymous] [--port N]]
 *
 * `--anonymous` serves the same tools without a login. `--port` moves the gateway; the addresses in the example follow.
 */
const ROOT = resolve(import.meta.dirname, '..');
/** As written in examples/quickstart. */
const GATEWAY_PORT = 4483;
const PROVIDER_PORT = 4480;

interface Options {
  readonly anonymous: boolean;
  readonly port: number;
}

const options = readOptions();
await (options.anonymous ? serve('examples/quickstart-anonymous', options.port) : serveWithLogin(options.port));

async function serveWithLogin(port: number): Promise<void> {
  const moved = port !== GATEWAY_PORT;
  const provider = await startIdentityProvider(moved ? 0 : PROVIDER_PORT).catch(explainPort);
  const folder = moved ? await movedExample(port, provider) : 'examples/quickstart';
  try {
    say(`Development identity provider at ${provider.issuer}: it asks for no password, never use it in production.`);
    say(
      `To log in and see the tools, in a second terminal: npm run try${moved ? ` -- http://127.0.0.1:${port}/mcp` : ''}\n`,
    );
    await serve(folder, port);
  } finally {
    await provider.close();
    if (moved) await rm(folder, { recursive: true, force: true });
  }
}

/** `sally` itself, in this process: Ctrl-C and the exit code are its own business. */
async function serve(folder: string, port: number): Promise<void> {
  process.chdir(ROOT);
  process.argv = [process.argv[0] ?? '', 'sally', 'vmcp', 'serve', '-f', folder, '--port', String(port)];
  await import(new URL('../dist/main.js', import.meta.url).href);
}

/** The example with other ports. Issuer, audience and provider are written down in it, because tokens are bound to them. */
async function movedExample(port: number, provider: IdentityProvider): Promise<string> {
  const example = join(ROOT, 'examples/quickstart');
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-quickstart-'));
  for (const file of await readdir(example)) {
    const text = await readFile(join(example, file), 'utf8');
    const moved = text
      .replaceAll(`http://127.0.0.1:${GATEWAY_PORT}`, `http://127.0.0.1:${port}`)
      .replaceAll(`http://127.0.0.1:${PROVIDER_PORT}`, provider.issuer);
    await writeFile(join(folder, file), moved);
  }
  return folder;
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        anonymous: { type: 'boolean', default: false },
        port: { type: 'string', default: String(GATEWAY_PORT) },
      },
    });
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`${values.port} is not a port`);
    return { anonymous: values.anonymous, port };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nusage: npm start [-- [--anonymous] [--port N]]\n`);
    process.exit(2);
  }
}

function explainPort(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
  process.stderr.write(
    `port ${PROVIDER_PORT}, where the identity provider of the example listens, is taken; is another npm start running?\n` +
      `With another port for the gateway the provider takes any free one: npm start -- --port 4583\n`,
  );
  process.exit(5);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
