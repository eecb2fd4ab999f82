import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createFetch, type GuardedFetch } from '../../src/oauth/index.ts';
import { makeCertificate } from './certificate.ts';

/** A host of client metadata documents on https. */
export interface DocumentHost extends AsyncDisposable {
  /** The address of a document about a client that waits for the browser at this port. */
  publish(port: number): string;
  /** How often a document was asked for. */
  asked(): number;
  /** The guarded fetch, for this machine and its certificate. */
  readonly fetch: GuardedFetch;
}

export async function startDocumentHost(): Promise<DocumentHost> {
  const certificate = await makeCertificate();
  let asked = 0;
  const server = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
    asked += 1;
    const { port } = /^\/clients\/(?<port>\d+)\.json$/.exec(request.url ?? '')?.groups ?? {};
    if (port === undefined) return void response.writeHead(404).end();
    const document = {
      client_id: `${origin}${request.url}`,
      client_name: 'Known by a document',
      // mcp-remote has another path than our own clients.
      redirect_uris: ['callback', 'oauth/callback'].map((path) => `http://127.0.0.1:${port}/${path}`),
      token_endpoint_auth_method: 'none',
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fetch = createFetch({ range: 'private', ca: certificate.cert, timeout: 3_000, maxAnswer: 5 * 1024 });
  return {
    publish: (port) => `${origin}/clients/${port}.json`,
    asked: () => asked,
    fetch,
    async [Symbol.asyncDispose]() {
      await fetch.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
