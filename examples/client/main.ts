import { parseArgs } from 'node:util';
import { connect, showLogin } from './connect.ts';
import { prepareLogin } from './login.ts';

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
  await using login = await prepareLogin((address) => showLogin(url, address, !values['no-browser']));
  const client = await connect(url, login, () => say('Logged in.\n'));
  const { tools } = await client.listTools();
  say(`\n${tools.length} tools at ${url.href}\n\n`);
  const width = Math.max(...tools.map(({ name }) => name.length));
  for (const { name, description } of tools) say(`  ${name.padEnd(width)}  ${firstLine(description ?? '')}\n`);
  await client.close();
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
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
