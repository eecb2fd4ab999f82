import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

/**
 * What we measure ourselves against: the shortest reverse proxy one would put into production. It reads the request, parses it,
 * refuses what is not JSON-RPC, sends the same bytes on over a pool and streams the answer back. It knows nothing of MCP.
 *
 *     node bench/bare-proxy.ts http://127.0.0.1:1234/path
 */
const target = new URL(process.argv[2] ?? '');
const pool = new Pool(target.origin, { headersTimeout: 0, bodyTimeout: 0 });
const OF_ONE_HOP = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer']);

const server = createServer({ noDelay: true }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => void forward(request, response, Buffer.concat(chunks)));
});

async function forward(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
  try {
    const message = JSON.parse(body.toString('utf8')) as { jsonrpc?: unknown; method?: unknown };
    if (message.jsonrpc !== '2.0' || typeof message.method !== 'string') throw new Error('not JSON-RPC');
    await pool.stream(
      { path: target.pathname, method: 'POST', headers: passedOn(request.headers), body },
      ({ statusCode, headers }) => response.writeHead(statusCode, passedOn(headers)),
    );
  } catch (error) {
    if (!response.headersSent) response.writeHead(502, { 'content-type': 'text/plain' });
    response.end(String(error));
  }
}

function passedOn(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !OF_ONE_HOP.has(name)) kept[name] = value;
  }
  return kept;
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}${target.pathname}` }));
});
