import type { HttpClient } from '../../base/http/index.ts';
import { type Log, SallyError } from '../../base/index.ts';
import { readEvents } from '../../mcp/index.ts';
import { type Credential, read } from '../call.ts';
import { initialize } from './handshake.ts';
import { createPoster, type HttpTarget, refusalOf, understand } from './http-talk.ts';
import { createMultiplex } from './multiplex.ts';
import type { Transport } from './talk.ts';
import { forLegacyServer, forModernClient } from './translate.ts';

export interface SseParts {
  readonly http: HttpClient;
  readonly credential: Credential;
  readonly log: Log;
}

/** The transport of 2024-11-05: one stream for everything the server says, and an address it names for what we say. */
export function createSseTransport(target: HttpTarget, { http, credential, log }: SseParts): Transport {
  const { name } = target;
  const poster = createPoster(target, http, credential);

  return {
    shared: false,
    async open(opening, signal) {
      const { client, heard } = opening;
      // Whoever the conversation is for comes back with newer tokens, and the older ones end.
      let { identity } = opening;
      const closing = new AbortController();
      const answer = await poster.get(identity, {}, closing.signal);
      if (!answer.stream || answer.status >= 300) throw refusalOf(name, answer.status);
      const address = Promise.withResolvers<string>();
      const multiplex = createMultiplex((text) => {
        void address.promise
          .then((url) => createPoster({ ...target, url }, http, credential).post(text, identity, {}, undefined))
          .catch((error: unknown) => multiplex.end(gone(name, error)));
      }, heard);
      address.promise.catch(() => {});
      void listen(answer.stream);

      async function listen(stream: AsyncIterable<Uint8Array>): Promise<void> {
        try {
          for await (const { event, data } of readEvents(stream)) {
            if (event === 'endpoint') address.resolve(endpointOf(target, data));
            else if (data !== '') multiplex.receive(understand(data, name));
          }
          multiplex.end(gone(name, undefined));
        } catch (error) {
          address.reject(error);
          multiplex.end(error instanceof SallyError && error.code === 'backend.protocol' ? error : gone(name, error));
        }
      }

      const over = multiplex.ended.then((error) => Promise.reject(error));
      try {
        const hello = await Promise.race([initialize(name, multiplex.request, client, identity, signal), over]);
        multiplex.notify('notifications/initialized', {});
        log.debug('a stream of 2024-11-05 is open', { server: name });
        return {
          hello,
          ended: multiplex.ended,
          async request(call, method, params) {
            identity = call.identity;
            const told = read(await multiplex.request(call, method, forLegacyServer(call, params)));
            return call.client.era === 'modern' ? forModernClient(told, method) : told;
          },
          notify: multiplex.notify,
          // The stream is the session: letting go of it ends both.
          close: async () => closing.abort(),
        };
      } catch (error) {
        closing.abort();
        throw error;
      }
    },
    close: async () => {}, // the line is not ours
  };
}

/** The address for our messages. A server that sends them to another host would get to see what is meant for it. */
function endpointOf({ name, url }: HttpTarget, data: string): string {
  const endpoint = URL.parse(data, url);
  if (endpoint === null || endpoint.origin !== new URL(url).origin) {
    throw new SallyError('backend.protocol', `${name} names an address on another host for its messages`);
  }
  return endpoint.href;
}

function gone(name: string, cause: unknown): SallyError {
  return new SallyError('backend.unreachable', `the stream of ${name} ended`, { cause });
}
