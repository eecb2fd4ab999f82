import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createFetch } from './fetch.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function guarded(options: Partial<Parameters<typeof createFetch>[0]> = {}) {
  const fetch = createFetch({ range: 'private', ...options });
  closing.push(() => void fetch.close());
  return fetch;
}

describe('the fetch of the OAuth libraries', () => {
  it('sends forms and headers, and gives a Response', async () => {
    const url = await serve(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { accept, 'accept-encoding': encoding } = request.headers;
      response.writeHead(201, { 'x-a': 'b' }).end(JSON.stringify({ method: request.method, accept, encoding, body }));
    });
    const response = await guarded()(url, {
      method: 'POST',
      headers: { Accept: 'application/json', 'accept-encoding': 'gzip' },
      body: new URLSearchParams({ a: '1 2' }),
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-a')).toBe('b');
    const heard = { method: 'POST', accept: 'application/json', encoding: 'identity', body: 'a=1+2' };
    expect(await response.json()).toEqual(heard);
  });

  it('follows no redirect, whatever it is asked', async () => {
    const url = await serve((_request, response) => response.writeHead(302, { location: '/elsewhere' }).end());
    expect((await guarded()(url, { redirect: 'follow' })).status).toBe(302);
  });

  it('does not reach private addresses unless it may', async () => {
    let reached = false;
    const url = await serve((_request, response) => {
      reached = true;
      response.end();
    });
    await expect(guarded({ range: 'public' })(url)).rejects.toMatchObject({ code: 'fetch.address_refused' });
    expect(reached).toBe(false);
  });

  it('gives up when an answer is too large', async () => {
    const url = await serve((_request, response) => response.end('x'.repeat(2_000)));
    await expect(guarded({ maxAnswer: 1_000 })(url)).rejects.toMatchObject({ code: 'fetch.too_large' });
  });

  it.each([
    ['never begins', (() => {}) as RequestListener],
    ['never ends', ((_request, response) => response.writeHead(200).write('{')) as RequestListener],
  ])('gives up on an answer that %s', async (_how, listener) => {
    const url = await serve(listener);
    await expect(guarded({ timeout: 100 })(url)).rejects.toMatchObject({ code: 'fetch.timeout' });
  });

  it('ends when whoever asked does not want it any more', async () => {
    const url = await serve(() => {});
    const reason = new Error('enough');
    await expect(guarded()(url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const later = new AbortController();
    const asked = guarded()(url, { signal: later.signal });
    setTimeout(() => later.abort(reason), 20);
    await expect(asked).rejects.toBe(reason);
  });

  it('leaves an event stream at once', async () => {
    let gone = false;
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: x\n\n');
      response.once('close', () => {
        gone = true;
      });
    });
    expect(await (await guarded()(url)).text()).toBe('');
    await expect.poll(() => gone).toBe(true);
  });

  it('sends nothing but GET, POST and DELETE', async () => {
    await expect(guarded()('http://127.0.0.1:1/', { method: 'PUT' })).rejects.toThrow(/PUT/);
  });
});
