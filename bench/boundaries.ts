import { startBoundaries } from '../test/support/boundaries.ts';
import { startIdentityProvider } from '../test/support/identity-provider.ts';
import { startTokenExchange } from '../test/support/token-exchange.ts';
import { startTokenIssuer } from '../test/support/token-issuer.ts';
import type { BenchBackend } from './backend.ts';
import type { Subject } from './load.ts';
import { type Message, modernCall, toolName } from './messages.ts';
import { pin } from './processes.ts';
import { serveSally } from './sally.ts';

/** (f): as (e), with a token of an identity provider on each call. */
export async function startWithTokens(
  folder: string,
  backendUrls: readonly string[],
  messages: readonly Message[],
  stack: AsyncDisposableStack,
): Promise<Subject> {
  const issuer = stack.use(await startTokenIssuer());
  const sally = stack.use(
    await serveSally(folder, backendUrls, [], {
      type: 'oidc',
      oidcConfig: {
        type: 'inline',
        inline: { issuer: issuer.url, audience: issuer.audience, jwksAllowPrivateIP: true },
      },
    }),
  );
  const authorization = `Bearer ${await issuer.token({ exp: Math.floor(Date.now() / 1000) + 3600 })}`;
  return {
    name: '(f) as e, with a bearer JWT on each call',
    url: sally.url,
    pid: sally.pid,
    messages: messages.map((message) => withToken(message, authorization)),
  };
}

export const STRATEGIES = ['plain', 'inject', 'exchange'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** One gateway with the embedded authorization server and a real login; the same backend behind each strategy of boundary 2. */
export async function startStrategies(
  backend: BenchBackend,
  stack: AsyncDisposableStack,
): Promise<Readonly<Record<Strategy, Subject>>> {
  const corp = stack.use(await startIdentityProvider());
  const exchange = stack.use(await startTokenExchange(corp));
  exchange.lifetime = 3600;
  const server = (index: number) => ({ server: { url: backend.modern(50, index) } });
  const gate = stack.use(
    await startBoundaries({
      providers: { corp },
      backends: {
        plain: server(0),
        inject: { ...server(1), auth: { type: 'upstreamInject', upstreamInject: { providerName: 'corp' } } },
        exchange: {
          ...server(2),
          auth: {
            type: 'tokenExchange',
            tokenExchange: {
              tokenUrl: exchange.tokenUrl,
              clientId: exchange.client.id,
              clientSecretRef: { name: 'exchange', key: 'client' },
              audience: 'bench',
            },
          },
        },
      },
      secrets: { 'exchange/client': exchange.client.secret },
    }),
  );
  exchange.trustedIssuer = gate.issuer;
  const [replica] = gate.replicas;
  const pid = replica.sally.process.pid ?? 0;
  pin('tested', pid);
  const { accessToken } = await gate.login('alice');
  const subject = (strategy: Strategy, name: string): Subject => ({
    name,
    url: replica.url,
    pid,
    messages: [withToken(modernCall(`${strategy}_${toolName(0)}`), `Bearer ${accessToken}`)],
  });
  return {
    plain: subject('plain', '(g) a login, a backend without credential'),
    inject: subject('inject', '(h) as g, the token of a provider injected'),
    exchange: subject('exchange', '(i) as g, an exchanged token'),
  };
}

function withToken({ headers, body }: Message, authorization: string): Message {
  return { headers: { ...headers, authorization }, body };
}
