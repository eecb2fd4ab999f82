import { type AddressInfo, createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../../test/support/certificate.ts';
import { createHttpClient } from './client.ts';
import { explain } from './failure.ts';

const ELSEWHERE = new URL('https://api.example.com/mcp');

describe('why a request brought no answer', () => {
  it.each([
    ['ECONNREFUSED', 'nothing listens at https://api.example.com'],
    ['ENOTFOUND', 'the name api.example.com is not known'],
    ['EAI_AGAIN', 'the resolver does not answer'],
    ['UND_ERR_SOCKET', 'closed the connection'],
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'made out to another name'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'signed by nobody who is trusted here'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
    ['constructor', 'the connection to https://api.example.com failed'],
  ])('is told for %s', (code, text) => {
    expect(explain(Object.assign(new Error('x'), { code }), ELSEWHERE)).toMatchObject({
      code: 'fetch.unreachable',
      message: expect.stringContaining(text),
    });
  });
});

describe('a real server', () => {
  const servers: Server[] = [];
  const client = createHttpClient({ range: 'private' });
  const ask = (server: Server) =>
    client.request(new URL(`https://localhost:${(server.address() as AddressInfo).port}/`), {
      method: 'GET',
      headers: {},
    });

  beforeAll(async () => {
    servers.push(
      createTlsServer(await makeCertificate()),
      createServer((socket) => void socket.end('HTTP/1.1 400\r\n\r\n')),
    );
    for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await client.close();
    for (const server of servers) server.close();
  });

  it('with a certificate of its own making is told apart, with what to do', async () => {
    await expect(ask(servers[0] as Server)).rejects.toMatchObject({
      message: expect.stringContaining('signed by nobody who is trusted here'),
      hint: expect.stringContaining('--ca-bundle'),
    });
  });

  it('that does not speak TLS is told apart', async () => {
    await expect(ask(servers[1] as Server)).rejects.toMatchObject({
      message: expect.stringContaining('does not speak TLS'),
    });
  });
});
