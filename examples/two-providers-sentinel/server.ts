import { createServer, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import {
  createMcpHandler,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokenVerifier,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import { createRemoteJWKSet, jwtVerify } from 'jose';

/**
 * An MCP server that answers whom it takes its caller for, to be put behind the gateway:
 *
 *     node examples/two-providers-sentinel/server.ts --name tickets --port 4491 --provider http://127.0.0.1:4480 [--audience NAME]
 *
 * It takes tokens of one identity provider and refuses everybody else. Without an audience the provider is asked whose token it
 * is; with one the token has to be signed by the provider for this audience.
 */
const { values } = parseArgs({
  options: {
    name: { type: 'string', default: '' },
    port: { type: 'string', default: '0' },
    provider: { type: 'string', default: '' },
    audience: { type: 'string' },
  },
});
const { name, provider, audience } = values;

interface Person {
  readonly id: string;
  readonly how: string;
}

const verifier: OAuthTokenVerifier = {
  async verifyAccessToken(token) {
    const { id, how } = await (audience === undefined ? askProvider(token) : checkSignature(token, audience));
    // It was good a moment ago, and the next request is checked again.
    const expiresAt = Math.floor(Date.now() / 1000) + 60;
    return { token, clientId: id, scopes: [], expiresAt, extra: { how } };
  },
};

async function askProvider(token: string): Promise<Person> {
  const signal = AbortSignal.timeout(5_000);
  const answer = await fetch(`${provider}/me`, { headers: { authorization: `Bearer ${token}` }, signal });
  if (!answer.ok) throw new OAuthError(OAuthErrorCode.InvalidToken, `${provider} does not know this token`);
  const { sub } = (await answer.json()) as { readonly sub: string };
  return { id: sub, how: `a token that ${provider} knows` };
}

const keys = createRemoteJWKSet(new URL(`${provider}/jwks`));

async function checkSignature(token: string, audience: string): Promise<Person> {
  try {
    const { payload } = await jwtVerify(token, keys, { issuer: provider, audience, typ: 'at+jwt' });
    return { id: String(payload.sub), how: `a token that ${provider} signed for ${audience} alone` };
  } catch {
    throw new OAuthError(OAuthErrorCode.InvalidToken, `this is no token of ${provider} for ${audience}`);
  }
}

const gate = requireBearerAuth({ verifier });
const mcp = createMcpHandler(({ authInfo }) => {
  const server = new McpServer({ name, version: '1' });
  const text = `${name} takes you for ${authInfo?.clientId}, because of ${authInfo?.extra?.how}`;
  server.registerTool('whoami', { description: `Whom ${name} takes you for, and why` }, () => ({
    content: [{ type: 'text', text }],
  }));
  return server;
});

async function answer(request: Request): Promise<Response> {
  const authInfo = await gate(request);
  return authInfo instanceof Response ? authInfo : await mcp.fetch(request, { authInfo });
}

const http = createServer((incoming, outgoing) => {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  answer(toRequest(incoming, gone.signal))
    .then((response) => {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (!response.body) return void outgoing.end();
      outgoing.flushHeaders(); // a stream may have nothing to say for long
      Readable.fromWeb(response.body as never)
        .on('error', () => outgoing.destroy())
        .pipe(outgoing);
    })
    .catch(() => outgoing.destroy());
});
http.listen(Number(values.port), '127.0.0.1', () => {
  process.stdout.write(`${name} at http://127.0.0.1:${values.port}/mcp takes tokens of ${provider}.\n`);
});

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', headers } = incoming;
  const hasBody = method !== 'GET' && method !== 'DELETE' && method !== 'HEAD';
  return new Request(`http://127.0.0.1${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    signal,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
  });
}
