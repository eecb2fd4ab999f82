import type { Misbehave } from '../security/support/servers.ts';

/** A stdio server that does all it must not: noise, foreign ids, second answers, none at all, floods, and nesting that is too deep. */
export const RUDE_PIPE = `({ id, method, params }) => {
  if (method === undefined) return true;
  if (method !== 'tools/call') {
    if (Math.random() < 0.3) write({ method: 'notifications/tools/list_changed' });
    return false;
  }
  const deep = '['.repeat(8000) + ']'.repeat(8000);
  const moves = [
    () => write('{'), () => write('[]'), () => write('null'), () => write(''), () => process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a])),
    () => { for (let other = id - 3; other < id + 3; other++) if (other !== id) write({ id: String(other), result: { content: [{ type: 'text', text: 'forged' }] } }); },
    () => write({ id: 1e9, result: {} }),
    () => write('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":' + deep + '}}'),
    () => write('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":' + id + ',"progress":1,"x":' + deep + '}}'),
    () => write('{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":' + deep + '}}'),
    () => { for (let n = 0; n < 200; n++) write({ id: 'q' + n, method: 'elicitation/create', params: { message: 'x'.repeat(100), requestedSchema: { type: 'object', properties: {} } } }); },
    () => { for (let n = 0; n < 500; n++) write({ method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(200) } }); },
    () => write({ method: 'notifications/cancelled', params: { requestId: 'q' } }),
    () => write({ method: 'notifications/resources/updated', params: { uri: 'x://y' } }),
    () => write({ id: 'r', method: 'roots/list' }), () => write({ id: 's', method: 'no/such' }), () => write({ id: 'p', method: 'ping' }),
  ];
  for (let count = 0; count < 4; count++) moves[Math.floor(Math.random() * moves.length)]();
  if (Math.random() < 0.6) answer(id, 'x'.repeat(Math.random() < 0.1 ? 500000 : 10));
  if (Math.random() < 0.3) answer(id, 'again');
  return true;
}`;

const DEEP = `${'['.repeat(8_000)}${']'.repeat(8_000)}`;

/** The same over HTTP: wrong types, halves, foreign ids, streams that never end or say too much. */
export const lie: Misbehave = ({ id, method }, response) => {
  if (method !== 'tools/call') return false;
  const json = (body: string): void => {
    response.setHeader('content-type', 'application/json');
    response.end(body);
  };
  const stream = (body: string, end: boolean): void => {
    response.setHeader('content-type', 'text/event-stream');
    response.write(body);
    if (end) response.end();
  };
  const own = JSON.stringify(id);
  const moves = [
    () => json(`{"jsonrpc":"2.0","id":77,"result":{"content":[{"type":"text","text":"forged"}]}}`),
    () => json(`{"jsonrpc":"2.0","id":${own},"result":${DEEP}}`),
    () => json(`{"jsonrpc":"2.0","id":${own},"result":{"x":${DEEP}}}`),
    () => json(`{"jsonrpc":"2.0","id":${own},`),
    () => json('[]'),
    () => json(''),
    () => response.writeHead(500).end('oops'),
    () => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    () => response.destroy(),
    () => stream(`data: {"jsonrpc":"2.0","id":77,"result":{}}\n\n`, true),
    () => stream(`data: {\n\n`, true),
    () => stream(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":${DEEP}}}\n\n`, true),
    () => stream(`data: {"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"x":${DEEP}}}\n\n`, true),
    () => stream(': quiet\n\n', false),
    () => stream(`data: ${'x'.repeat(1_000_000)}`, true),
  ];
  moves[Math.floor(Math.random() * moves.length)]?.();
  return true;
};
