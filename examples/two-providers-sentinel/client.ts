import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { connect, showLogin } from '../client/connect.ts';
import { type Login, prepareLogin } from '../client/login.ts';
import { PORTS } from './ports.ts';

/**
 * Logs in once, calls every `whoami` at each gateway, and does it again at each press of Enter:
 *
 *     node examples/two-providers-sentinel/client.ts [--no-browser] [URL GATEWAY GATEWAY …]
 */
const endpoint = (port: number): string => `http://127.0.0.1:${port}/mcp`;
const { values, positionals } = parseArgs({
  options: { 'no-browser': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [url = endpoint(PORTS.balancer), ...given] = positionals;
const gateways = given.length > 0 ? given : [endpoint(PORTS['gateway-1']), endpoint(PORTS['gateway-2'])];

try {
  const at = new URL(url);
  await using login = await prepareLogin((address) => showLogin(at, address, !values['no-browser']));
  await callAll(at, login);
  for await (const _ of createInterface({ input: process.stdin })) await callAll(at, login);
} catch (error) {
  process.stderr.write(`${url}: ${(error as Error).message}\n`);
  process.exitCode = 1;
  process.stdin.destroy(); // nobody waits for Enter any more
}

/** Each gateway is asked past the balancer, with the tokens of the one login. What fails is told, and the rest goes on. */
async function callAll(at: URL, login: Login): Promise<void> {
  // Here the client renews its token, or logs in when it has none that is good.
  await (await connect(at, login, () => say('Logged in.\n'))).close();
  for (const gateway of gateways) {
    say(`\n${gateway}\n`);
    try {
      const client = await connect(new URL(gateway), login, () => {});
      const { tools } = await client.listTools();
      for (const { name } of tools) {
        const began = performance.now();
        const text = await client.callTool({ name, arguments: {} }).then(textOf, (error: Error) => error.message);
        say(`  ${name.padEnd(15)} ${text} (${Math.round(performance.now() - began)} ms)\n`);
      }
      await client.close();
    } catch (error) {
      say(`  ${(error as Error).message}\n`);
    }
  }
  say('\nEnter calls them again, Ctrl-C ends.\n');
}

function textOf({ content }: { readonly content?: unknown }): string {
  const [first] = (content ?? []) as readonly { readonly text?: string }[];
  return first?.text ?? 'an answer without words';
}

function say(text: string): void {
  process.stdout.write(text);
}
