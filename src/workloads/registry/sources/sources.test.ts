import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRegistry } from '../registry.ts';
import { apiSource } from './api.ts';
import type { FetchParts } from './fetch.ts';
import { fileSource } from './file.ts';
import { jsonUrlSource } from './json-url.ts';

let folder: string;
let now: number;
let notices: string[];
const closing: (() => void)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sally-registry-'));
  now = Date.now();
  notices = [];
});
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await rm(folder, { recursive: true });
});

async function serve(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/registry.json`);
}

function parts(more: Partial<FetchParts> = {}): FetchParts {
  return {
    allowPrivateIp: true,
    cacheFolder: join(folder, 'cache'),
    notice: (text) => notices.push(text),
    now: () => now,
    ...more,
  };
}

const named = (...names: readonly string[]) => names.map((name) => ({ name, description: '', version: '1' }));
const DOCUMENT = JSON.stringify({ servers: named('dev.acme/notes') });
const MINUTES = 60_000;

describe('a file', () => {
  it('is read anew each time', async () => {
    const file = join(folder, 'servers.json');
    await writeFile(file, DOCUMENT);
    const source = fileSource(file);
    expect((await source.read()).entries).toHaveLength(1);
    await writeFile(file, '{"servers":[]}');
    expect((await source.read()).entries).toHaveLength(0);
  });

  it('that is gone, too large or none at all is an error that names it', async () => {
    const file = join(folder, 'gone.json');
    await expect(fileSource(file).read()).rejects.toMatchObject({
      code: 'registry.unavailable',
      message: expect.stringContaining(file),
    });
    await writeFile(file, `"${'x'.repeat(10 * 1024 * 1024)}"`);
    await expect(fileSource(file).read()).rejects.toMatchObject({
      code: 'registry.unavailable',
      cause: { message: expect.stringContaining('larger') },
    });
    await expect(fileSource('/dev/zero').read()).rejects.toMatchObject({ code: 'registry.unavailable' });
  });
});

describe('a JSON document on the network', () => {
  it('is not asked for again while its copy is young, then only whether it changed', async () => {
    const asked: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      asked.push(request.headers['if-none-match']);
      if (request.headers['if-none-match'] === '"1"') return response.writeHead(304).end();
      return response.writeHead(200, { etag: '"1"' }).end(DOCUMENT);
    });
    const read = async () => (await jsonUrlSource(url, parts()).read()).entries.length;
    expect([await read(), await read()]).toEqual([1, 1]);
    now += 6 * MINUTES;
    expect(await read()).toBe(1);
    expect(asked).toEqual([undefined, '"1"']);
    await jsonUrlSource(url, parts()).read({ refresh: true });
    expect(asked).toHaveLength(3);
    expect(notices).toEqual([]);
  });

  it('is asked for by its date when it has no ETag', async () => {
    const date = 'Sun, 01 Nov 2026 00:00:00 GMT';
    const asked: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      asked.push(request.headers['if-modified-since']);
      response.writeHead(asked.length > 1 ? 304 : 200, { 'last-modified': date }).end(asked.length > 1 ? '' : DOCUMENT);
    });
    await jsonUrlSource(url, parts()).read();
    expect((await jsonUrlSource(url, parts()).read({ refresh: true })).entries).toHaveLength(1);
    expect(asked).toEqual([undefined, date]);
  });

  it.each<[string, RequestListener]>([
    ['fails', (_request, response) => response.writeHead(503).end()],
    ['has too much to do', (_request, response) => response.writeHead(429).end()],
    ['breaks off', (_request, response) => response.destroy()],
    ['hangs', () => {}],
    ['stalls in the middle', (_request, response) => response.write('{"servers":[')],
  ])('is taken from its copy when the server %s, and that is said', async (_, trouble) => {
    let listener: RequestListener = (_request, response) => response.end(DOCUMENT);
    const url = await serve((request, response) => listener(request, response));
    const source = jsonUrlSource(url, parts({ within: 250 }));
    await source.read();
    listener = trouble;
    now += 6 * MINUTES;
    expect((await source.read()).entries).toHaveLength(1);
    expect(notices).toEqual([expect.stringMatching(/^the registry http.* does not answer; a copy of 20.*Z is used$/)]);
    now += 8 * 24 * 60 * MINUTES; // a copy of last week is none
    await expect(source.read()).rejects.toMatchObject({ code: 'registry.unavailable' });
  });

  it.each([401, 403, 410, 302, 204])('is not taken from its copy when the server answers %i', async (status) => {
    let refuses = false;
    const url = await serve((_request, response) =>
      refuses
        ? response.writeHead(status, { location: 'https://elsewhere.example/r.json' }).end()
        : response.end(DOCUMENT),
    );
    const source = jsonUrlSource(url, parts());
    await source.read();
    refuses = true;
    await expect(source.read({ refresh: true })).rejects.toMatchObject({
      code: 'registry.unavailable',
      message: expect.stringContaining(`status ${status}`),
    });
  });

  it('is an error that names the registry when there is no copy', async () => {
    await expect(jsonUrlSource(new URL('http://127.0.0.1:9/r.json'), parts()).read()).rejects.toMatchObject({
      code: 'registry.unavailable',
      message: 'the registry http://127.0.0.1:9/r.json cannot be read',
    });
    const url = await serve((_request, response) => response.writeHead(404).end());
    await expect(jsonUrlSource(url, parts()).read()).rejects.toMatchObject({ code: 'registry.unavailable' });
  });

  it('of more than 10 MiB is refused while it comes in', async () => {
    const url = await serve((_request, response) => {
      const piece = 'x'.repeat(1024 * 1024);
      for (let count = 0; count < 12; count++) response.write(piece);
      response.end();
    });
    await expect(jsonUrlSource(url, parts()).read()).rejects.toMatchObject({
      code: 'registry.unavailable',
      cause: { code: 'fetch.too_large' },
    });
  });

  it.each<RequestListener>([
    (_request, response) => response.end('<html>'),
    (_request, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {}\n\n'),
  ])('of another format is refused', async (listener) => {
    await expect(jsonUrlSource(await serve(listener), parts()).read()).rejects.toThrow();
  });

  it('that cannot be read is not kept, so that a repaired one is found at once', async () => {
    let body = '<html>';
    const url = await serve((_request, response) => response.end(body));
    const source = jsonUrlSource(url, parts());
    await expect(source.read()).rejects.toMatchObject({ code: 'registry.invalid' });
    body = DOCUMENT;
    expect((await source.read()).entries).toHaveLength(1);
  });

  it('is not asked for by the tag of an older answer', async () => {
    const asked: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      asked.push(request.headers['if-none-match']);
      response.writeHead(200, asked.length === 1 ? { etag: '"1"' } : {}).end(DOCUMENT);
    });
    const source = jsonUrlSource(url, parts());
    for (let count = 0; count < 3; count++) await source.read({ refresh: true });
    expect(asked).toEqual([undefined, '"1"', undefined]);
  });

  it('is fetched from the own network only when that was allowed', async () => {
    let reached = false;
    const url = await serve((_request, response) => {
      reached = true;
      response.end(DOCUMENT);
    });
    const outside = parts({ allowPrivateIp: false });
    await expect(jsonUrlSource(url, outside).read()).rejects.toMatchObject({
      hint: expect.stringContaining('--allow-private-ip'),
    });
    const secure = new URL(url.href.replace('http:', 'https:'));
    await expect(jsonUrlSource(secure, outside).read()).rejects.toMatchObject({
      code: 'registry.unavailable',
      cause: { code: 'fetch.address_refused' },
      hint: expect.stringContaining('--allow-private-ip'),
    });
    await expect(jsonUrlSource(new URL('http://169.254.169.254/x.json'), parts()).read()).rejects.toMatchObject({
      cause: { code: 'fetch.address_refused' },
    });
    expect(reached).toBe(false);
  });
});

describe('the copies', () => {
  it('can be read by their owner only, and one that was tampered with is not there', async () => {
    const url = await serve((_request, response) => response.end(DOCUMENT));
    await jsonUrlSource(url, parts()).read();
    const [name = ''] = await readdir(join(folder, 'cache'));
    const file = join(folder, 'cache', name);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await writeFile(file, (await readFile(file, 'utf8')).slice(0, -3));
    expect((await jsonUrlSource(url, parts()).read()).entries).toHaveLength(1);
  });

  it('go when they are old', async () => {
    const url = await serve((_request, response) => response.end(DOCUMENT));
    await jsonUrlSource(url, parts()).read();
    const [old = ''] = await readdir(join(folder, 'cache'));
    await utimes(join(folder, 'cache', old), new Date(0), new Date(0));
    await jsonUrlSource(new URL('?other', url), parts()).read();
    expect(await readdir(join(folder, 'cache'))).not.toContain(old);
  });

  it('are done without where they cannot be written', async () => {
    const url = await serve((_request, response) => response.end(DOCUMENT));
    await writeFile(join(folder, 'blocked'), '');
    expect((await jsonUrlSource(url, parts({ cacheFolder: join(folder, 'blocked') })).read()).entries).toHaveLength(1);
  });
});

describe('a registry with the API', () => {
  /** Pages of servers as the official registry gives them out. */
  async function api(
    pages: readonly (readonly string[])[],
    cursorOf = (page: number): string | undefined => (page + 1 < pages.length ? String(page + 1) : undefined),
  ) {
    const asked: string[] = [];
    const url = await serve((request, response) => {
      const at = new URL(request.url ?? '', 'http://x');
      asked.push(`${at.pathname}${at.search}`);
      const single = /^\/base\/v0\.1\/servers\/([^/]+)\/versions\/latest$/.exec(at.pathname)?.[1];
      if (single !== undefined) {
        const name = decodeURIComponent(single);
        if (!pages.flat().includes(name)) return response.writeHead(404).end('{}');
        return response.end(JSON.stringify({ server: named(name)[0], _meta: {} }));
      }
      if (at.pathname !== '/base/v0.1/servers') return response.writeHead(404).end();
      const page = Number(at.searchParams.get('cursor') ?? 0);
      const search = at.searchParams.get('search') ?? '';
      const servers = named(...(pages[page] ?? []))
        .filter(({ name }) => name.includes(search))
        .map((server) => ({ server, _meta: {} }));
      return response.end(JSON.stringify({ servers, metadata: { count: servers.length, nextCursor: cursorOf(page) } }));
    });
    return { asked, registry: createRegistry(apiSource(new URL('/base/', url), parts())) };
  }

  it('is read page by page', async () => {
    const { registry, asked } = await api([['dev.a/one', 'dev.a/two'], ['dev.b/one'], ['dev.c/three']]);
    expect((await registry.list()).entries.map(({ name }) => name)).toEqual([
      'dev.a/one',
      'dev.a/two',
      'dev.b/one',
      'dev.c/three',
    ]);
    expect(asked).toEqual([
      '/base/v0.1/servers?limit=100&version=latest',
      '/base/v0.1/servers?limit=100&version=latest&cursor=1',
      '/base/v0.1/servers?limit=100&version=latest&cursor=2',
    ]);
  });

  it('is asked for one name with one question', async () => {
    const { registry, asked } = await api([['dev.a/one'], ['dev.b/one']]);
    expect((await registry.find('dev.b/one'))?.name).toBe('dev.b/one');
    expect(await registry.find('dev.b/../admin')).toBeUndefined();
    expect(asked).toEqual([
      '/base/v0.1/servers/dev.b%2Fone/versions/latest',
      '/base/v0.1/servers/dev.b%2F..%2Fadmin/versions/latest',
    ]);
  });

  it('is searched for the last part of a name, which must be clear', async () => {
    const { registry } = await api([['dev.a/one', 'dev.a/two'], ['dev.b/one']]);
    expect((await registry.find('two'))?.name).toBe('dev.a/two');
    await expect(registry.find('one')).rejects.toMatchObject({ code: 'registry.ambiguous' });
    expect((await registry.search('two')).entries).toHaveLength(1);
  });

  it('cannot lead us in circles', async () => {
    const { registry, asked } = await api([['dev.a/one']], () => '0');
    expect((await registry.list()).entries).toHaveLength(1);
    expect(asked).toHaveLength(2);
  });

  it('cannot lead us on for ever', { timeout: 60_000 }, async () => {
    let page = 0;
    const url = await serve((_request, response) => {
      page += 1;
      const servers = named(...Array.from({ length: 500 }, (_, index) => `dev.a/n${page}-${index}`));
      response.end(JSON.stringify({ servers, metadata: { nextCursor: `c${page}` } }));
    });
    const registry = createRegistry(apiSource(url, parts()));
    expect((await registry.list()).entries).toHaveLength(10_000);
    expect(notices).toEqual([expect.stringContaining('more than 10000 servers')]);
    expect(page).toBe(20);
  });

  it('does not answer with another server than the one that was asked for', async () => {
    const url = await serve((_request, response) =>
      response.end(JSON.stringify({ server: named('dev.evil/other')[0] })),
    );
    expect(await createRegistry(apiSource(url, parts())).find('dev.a/one')).toBeUndefined();
  });

  it('that fails is an error, not a server that is not there', async () => {
    const url = await serve((_request, response) => response.writeHead(500).end());
    const registry = createRegistry(apiSource(url, parts()));
    for (const name of ['dev.a/one', 'one'])
      await expect(registry.find(name)).rejects.toMatchObject({ code: 'registry.unavailable' });
  });
});
