import { parseArgs } from 'node:util';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { prepareLogin } from './login.ts';
import { openBrowser } from './open-browser.ts';

/**
 * `npm run try`: what an MCP client does at a gateway that asks for a login, and then the list of its tools.
 *
 *     npm run try [-- [--no-browser] [URL]]
 */
const DEFAULT_URL = 'http://127.0.0.1:4483/mcp';

const { values, positionals } = parseArgs({
  options: { 'no-browser': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const url = new URL(positionals[0] ?? DEFAULT_URL);

process.stdout.on('error', () => {}); // a reader that went away (`| head`) has seen enough

try {
  await using login = await prepareLogin(show);
  const client = await connect(login);
  const { tools } = await client.listTools();
  say(`\n${tools.length} tools at ${url.href}\n\n`);
  const width = Math.max(...tools.map(({ name }) => name.length));
  for (const { name, description } of tools) say(`  ${name.padEnd(width)}  ${firstLine(description ?? '')}\n`);
  await client.close();
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}

/** Connects; where that takes a login, waits for it and connects again. */
async function connect({ provider, answer }: Awaited<ReturnType<typeof prepareLogin>>): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  try {
    return await connected(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  await transport.finishAuth(await answer);
  say('Logged in.\n');
  return await connected(new StreamableHTTPClientTransport(url, { authProvider: provider }));
}

async function connected(transport: StreamableHTTPClientTransport): Promise<Client> {
  const client = new Client({ name: 'sallyport-quickstart', version: '1' });
  await client.connect(transport);
  return client;
}

function show(address: URL): void {
  if (!values['no-browser']) openBrowser(address);
  say(
    `${url.href} asks for a login. ${values['no-browser'] ? 'Open' : 'Your browser opens it; otherwise open'} this address:\n\n`,
  );
  say(`  ${address.href}\n\nWaiting. Ctrl-C ends it.\n`);
}

function say(text: string): void {
  process.stdout.write(text);
}

function firstLine(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length > 72 ? `${line.slice(0, 71)}…` : line;
}

function explain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const refused = error instanceof TypeError && text === 'fetch failed';
  return refused ? `nothing answers at ${url.href}; start the gateway first: npm start` : `${url.href}: ${text}`;
}
