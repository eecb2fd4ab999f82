import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient } from './client.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const GET = { method: 'GET', headers: {} } as const;
const client = createHttpClient({ range: 'private', maxAnswer: 1024 });
const outside = createHttpClient({ range: 'public' });

it('gives a whole answer with its status and headers', async () => {
  const port = await serve((_request, response) => response.writeHead(418, { 'x-a': 'b' }).end('tea'));
  const answer = await client.request(new URL(`http://127.0.0.1:${port}/`), GET);
  expect({ status: answer.status, a: answer.headers['x-a'], text: answer.bytes.toString() }).toEqual({
    status: 418,
    a: 'b',
    text: 'tea',
  });
});

it.each(['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f.1', '127.1'])(
  'does not reach %s for a URL from outside',
  async (host) => {
    let reached = false;
    const port = await serve((_request, response) => {
      reached = true;
      response.end();
    });
    await expect(outside.request(new URL(`http://${host}:${port}/`), GET)).rejects.toMatchObject({
      code: 'fetch.address_refused',
    });
    expect(reached).toBe(false);
  },
);

it('never reaches link-local addresses, whoever asks', async () => {
  await expect(client.request(new URL('http://169.254.169.254/'), GET)).rejects.toMatchObject({
    code: 'fetch.address_refused',
  });
  await expect(client.request(new URL('http://[fe80::1]/'), GET)).rejects.toMatchObject({
    code: 'fetch.address_refused',
  });
});

it('follows no redirect', async () => {
  const port = await serve((_request, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  );
  expect(await client.request(new URL(`http://127.0.0.1:${port}/`), GET)).toMatchObject({ status: 302 });
});

it('refuses an answer over the limit, with or without a declared length', async () => {
  const declared = await serve((_request, response) => response.end('x'.repeat(2048)));
  const chunked = await serve((_request, response) => {
    response.write('x'.repeat(800));
    setTimeout(() => response.end('x'.repeat(800)), 10);
  });
  for (const port of [declared, chunked]) {
    await expect(client.request(new URL(`http://127.0.0.1:${port}/`), GET)).rejects.toMatchObject({
      code: 'fetch.too_large',
    });
  }
});

it('gives an event stream as it comes, and ends it when the reader leaves', async () => {
  let gone = false;
  const port = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const timer = setInterval(() => response.write('data: x\n\n'), 5);
    response.once('close', () => {
      gone = true;
      clearInterval(timer);
    });
  });
  const { stream } = await client.request(new URL(`http://127.0.0.1:${port}/`), GET);
  let seen = 0;
  for await (const _chunk of stream ?? []) if (++seen === 3) break;
  await expect.poll(() => gone).toBe(true);
});

it('ends a request early', async () => {
  const port = await serve(() => {});
  let abort: ((reason: Error) => void) | undefined;
  const waiting = client.request(new URL(`http://127.0.0.1:${port}/`), {
    ...GET,
    onStart: (stop) => {
      abort = stop;
    },
  });
  setTimeout(() => abort?.(new Error('enough')), 20);
  await expect(waiting).rejects.toMatchObject({ cause: { message: 'enough' } });
});

describe('a server that takes the connection and never says hello', () => {
  let silent: Server;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    silent = createTcpServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const urlOf = (): URL => new URL(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/`);

  it('does not hold a request that is ended early', async () => {
    const patient = createHttpClient({ range: 'private', connectTimeout: 60_000 });
    let abort: ((reason: Error) => void) | undefined;
    const waiting = patient.request(urlOf(), {
      ...GET,
      onStart: (stop) => {
        abort = stop;
      },
    });
    setTimeout(() => abort?.(new Error('enough')), 20);
    await expect(waiting).rejects.toMatchObject({ cause: { message: 'enough' } });
    await patient.close();
  });

  it('does not hold a request beyond its time', async () => {
    const hasty = createHttpClient({ range: 'private', within: 20, connectTimeout: 60_000 });
    await expect(hasty.request(urlOf(), GET)).rejects.toMatchObject({ code: 'fetch.timeout' });
    await hasty.close();
  });
});

it('says what is wrong when nothing listens', async () => {
  await expect(client.request(new URL('http://127.0.0.1:9/'), GET)).rejects.toMatchObject({
    code: 'fetch.unreachable',
  });
});

describe('two clients that go out by the same rules', () => {
  const open = () => createHttpClient({ range: 'private', connectTimeout: 4_321 });

  it('share their connections', async () => {
    const connections = new Set<unknown>();
    const port = await serve((request, response) => {
      connections.add(request.socket);
      response.end('x');
    });
    const [one, other] = [open(), open()];
    for (const each of [one, other, one]) {
      await each.request(new URL(`http://127.0.0.1:${port}/`), GET);
      await sleep(20); // the connection is free a moment after its answer
    }
    await Promise.all([one.close(), other.close()]);
    expect(connections.size).toBe(1);
  });

  it('close one by one: what the closed one asked ends, what the other asked does not', async () => {
    const port = await serve((_request, response) => void setTimeout(() => response.end('late'), 200));
    const url = new URL(`http://127.0.0.1:${port}/`);
    const [one, other] = [open(), open()];
    const dropped = one.request(url, GET);
    const kept = other.request(url, GET);
    setTimeout(() => void one.close(), 50);
    await expect(dropped).rejects.toMatchObject({ code: 'fetch.unreachable' });
    expect((await kept).bytes.toString()).toBe('late');
    await expect(one.request(url, GET)).rejects.toMatchObject({ code: 'fetch.unreachable' });
    expect((await other.request(url, GET)).status).toBe(200);
    await other.close();
  });

  it('leave no connection behind once both are closed', async () => {
    let sockets = 0;
    const port = await serve((request, response) => {
      sockets += 1;
      request.socket.once('close', () => {
        sockets -= 1;
      });
      response.end('x');
    });
    const [one, other] = [open(), open()];
    await Promise.all([one, other].map((each) => each.request(new URL(`http://127.0.0.1:${port}/`), GET)));
    await one.close();
    expect(sockets).toBeGreaterThan(0);
    await other.close();
    await expect.poll(() => sockets).toBe(0);
  });
});
