import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import type { Login } from './login.ts';
import { openBrowser } from './open-browser.ts';

/** Connects; where that takes a login, waits for it, says so, and connects again. */
export async function connect(url: URL, login: Login, loggedIn: () => void): Promise<Client> {
  const { provider } = login;
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  try {
    return await connected(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  await transport.finishAuth(await login.answer);
  loggedIn();
  return await connected(new StreamableHTTPClientTransport(url, { authProvider: provider }));
}

async function connected(transport: StreamableHTTPClientTransport): Promise<Client> {
  const client = new Client({ name: 'sallyport-example', version: '1' });
  await client.connect(transport);
  return client;
}

/** Tells the user where to log in, and opens the address for him where that is wanted. */
export function showLogin(at: URL, address: URL, opens: boolean): void {
  if (opens) openBrowser(address);
  process.stdout.write(
    `${at.href} asks for a login. ${opens ? 'Your browser opens it; otherwise open' : 'Open'} this address:\n\n` +
      `  ${address.href}\n\nWaiting. Ctrl-C ends it.\n`,
  );
}
