import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUriMatcher } from '../../src/gateway/hub/uri-template.ts';
import { type Gate, startGate } from './support/gate.ts';
import { startWebServer, type WebServer } from './support/servers.ts';
import { MCP, messageOf, modern, openSession, post, raw, send, textOf } from './support/wire.ts';

describe('8. CVE-2026-0621: the templates of a server cost no more than they are long', () => {
  const long = 'a'.repeat(100_000);
  it.each([
    ['many expressions', '{a}'.repeat(32), long],
    ['exploded lists', '{/a*}{/b*}{/c*}{/d*}{/e*}x', `/${'a/'.repeat(50_000)}`],
    ['nested repeats', '{a}{b}{c}{d}{e}{f}{g}{h}/{i}!', `${long}/`],
    ['a literal that almost fits everywhere', `{a}${'a'.repeat(1_000)}b{c}`, long],
    ['literals that almost fit, many times', `{+a}${'aab{+x}'.repeat(30)}c`, 'aa'.repeat(50_000)],
    ['a template of a megabyte', '{'.repeat(1_000_000), long],
    ['more expressions than anybody needs', '{a}x'.repeat(100_000), 'ax'.repeat(100_000)],
    ['queries', '{?a,b,c*}{&d*}{&e*}', `?${'a=1&'.repeat(25_000)}`],
  ])('%s', (_what, template, uri) => {
    const began = performance.now();
    const matches = createUriMatcher(template);
    for (let round = 0; round < 10; round++) matches(uri);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe('9. CVE-2026-27896: a message means one thing to everybody, or it is refused', () => {
  let web: WebServer;
  let gate: Gate;
  let url: URL;
  beforeAll(async () => {
    web = await startWebServer();
    gate = await startGate({ web: { web: web.url } });
    url = gate.url;
  });
  afterAll(async () => {
    try {
      gate.stillWell();
    } finally {
      await gate[Symbol.asyncDispose]();
      await web[Symbol.asyncDispose]();
    }
  });

  const say = '"params":{"name":"web_say","arguments":{"text":"a"}}';

  it.each([
    ['a method twice', `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call",${say}}`],
    ['a method twice, once escaped', `{"jsonrpc":"2.0","id":1,"method":"ping","\\u006dethod":"tools/call",${say}}`],
    ['an id twice', `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call",${say}}`],
    ['params twice', `{"jsonrpc":"2.0","id":1,"method":"tools/call",${say},${say}}`],
    ['a name twice', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_say","name":"other"}}'],
    [
      'an argument twice',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_say","arguments":{"text":"a","text":"b"}}}',
    ],
    [
      'a key twice, deep down and behind many',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_say","arguments":{"text":[{${Array.from({ length: 40 }, (_, n) => `"k${n}":0`).join()},"k3":1}]}}}`,
    ],
    ['Method', `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call",${say}}`],
    ['METHOD alone', `{"jsonrpc":"2.0","id":1,"METHOD":"tools/call",${say}}`],
    ['Params', `{"jsonrpc":"2.0","id":1,"method":"tools/call",${say},"Params":{"name":"other"}}`],
    ['ID', `{"jsonrpc":"2.0","id":1,"ID":2,"method":"tools/call",${say}}`],
    ['Name', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_say","Name":"other"}}'],
    ['a NUL behind the method', `{"jsonrpc":"2.0","id":1,"method":"ping","method\\u0000":"tools/call",${say}}`],
    [
      'a NUL inside the name',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_say","na\\u0000me":"x"}}',
    ],
    ['a number as method', '{"jsonrpc":"2.0","id":1,"method":7}'],
    ['a list as method', '{"jsonrpc":"2.0","id":1,"method":["tools/call"]}'],
    ['null as method', '{"jsonrpc":"2.0","id":1,"method":null}'],
    ['a method that says text', `{"jsonrpc":"2.0","id":1,"method":{"toString":"tools/call"},${say}}`],
    ['an id that is an object', `{"jsonrpc":"2.0","id":{"a":1},"method":"tools/call",${say}}`],
    ['an id that is no integer', `{"jsonrpc":"2.0","id":1.5,"method":"tools/call",${say}}`],
    ['an id too large to hold', `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call",${say}}`],
    ['an id without end', `{"jsonrpc":"2.0","id":1e999,"method":"tools/call",${say}}`],
    ['a request that is an answer too', `{"jsonrpc":"2.0","id":1,"method":"tools/call",${say},"result":{}}`],
    ['an empty batch', '[]'],
    [
      'a batch without end',
      `[${Array.from({ length: 5_000 }, () => '{"jsonrpc":"2.0","id":1,"method":"ping"}').join()}]`,
    ],
    ['a batch that opens a session', '[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]'],
    ['a key twice in a batch', `[{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call",${say}}]`],
    ['Method in a batch', `[{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call",${say}}]`],
    ['a batch of batches', '[[[[]]]]'],
    ['a list as params', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["web_say"]}'],
    [
      'nesting without end',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_001)}`,
    ],
    ['open brackets only', '['.repeat(1_000_000)],
    ['two messages', `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"tools/call",${say}}`],
    ['a comment', '{"jsonrpc":"2.0",/**/"id":1,"method":"ping"}'],
    ['a byte order mark', '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}'],
    ['nothing', ''],
  ])('%s', async (_what, body) => {
    const before = web.messages.length;
    const answer = await post(url, body);
    expect(answer.status).toBe(400);
    expect([-32700, -32600]).toContain(messageOf(answer).error?.code);
    expect(web.messages.slice(before).filter(({ method }) => method === 'tools/call')).toEqual([]);
  });

  it.each([
    ['a lone byte', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","x":"\xff"}', 'latin1')],
    ['an overlong slash', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","x":"\xc0\xaf"}', 'latin1')],
    ['half a surrogate', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","x":"\xed\xa0\x80"}', 'latin1')],
    ['UTF-16', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}', 'utf16le')],
  ])('bytes that are not UTF-8: %s', async (_what, body) => {
    expect((await send(url, { headers: MCP, body })).status).toBe(400);
  });

  it('bytes that are not UTF-8, beside a replacement character that is', async () => {
    const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","x":"\xef\xbf\xbd\xff"}', 'latin1');
    expect((await send(url, { headers: MCP, body })).status).toBe(400);
  });

  it('nesting is refused before it is built: it would cost a hundred times its length', async () => {
    await using own = await startGate({ web: { web: web.url } });
    const deep = `${'['.repeat(3_500_000)}${']'.repeat(3_500_000)}`;
    for (let count = 0; count < 4; count++)
      expect((await post(own.url, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${deep}}}`)).status).toBe(400);
    const status = readFileSync(`/proc/${own.sally.process.pid}/status`, 'utf8');
    const peakMegabytes = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024;
    expect(peakMegabytes).toBeLessThan(400);
  });

  it('a batch of a revision that has none is refused whole', async () => {
    const before = web.messages.length;
    for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28'])
      expect(
        (
          await post(url, `[{"jsonrpc":"2.0","id":1,"method":"tools/call",${say}}]`, {
            'mcp-protocol-version': revision,
          })
        ).status,
      ).toBe(400);
    expect(web.messages.slice(before).filter(({ method }) => method === 'tools/call')).toEqual([]);
  });

  it('names of the language are names like any other', async () => {
    const session = { 'mcp-session-id': await openSession(url) };
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } };
      expect(messageOf(await post(url, call, session)).error?.code).toBe(-32602);
      expect(messageOf(await post(url, { jsonrpc: '2.0', id: 1, method: name }, session)).error?.code).toBe(-32601);
    }
    const polluted = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{"name":"web_say"},"arguments":{"__proto__":{"text":"b"}}}}`;
    expect(messageOf(await post(url, polluted, session)).error?.code).toBe(-32602);
  });

  it('what reaches the server is what was checked, and numbers keep their digits', async () => {
    const session = { 'mcp-session-id': await openSession(url) };
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_say","arguments":{"text":"a","n":123456789012345678901234567890}}}`;
    const answer = await post(url, body, session);
    expect(textOf(answer)).toBe('a');
    expect(web.messages.at(-1)).toMatchObject({ method: 'tools/call', params: { name: 'say' } });
  });

  describe('GHSA-q382-vc8q-7jhj: the headers of the stateless revision repeat the body', () => {
    const { message, headers } = modern(1, 'tools/call', { name: 'web_say', arguments: { text: 'a' } });

    it.each([
      ['another method', { 'mcp-method': 'tools/list' }],
      ['the method in other letters', { 'mcp-method': 'Tools/Call' }],
      ['two methods', { 'mcp-method': ['tools/call', 'tools/list'] }],
      ['the same method twice', { 'mcp-method': ['tools/call', 'tools/call'] }],
      ['another name', { 'mcp-name': 'other' }],
      ['a name with more behind it', { 'mcp-name': 'web_say, other' }],
      ['a name wrapped wrongly', { 'mcp-name': '=?base64?***?=' }],
      ['another name, wrapped', { 'mcp-name': `=?base64?${Buffer.from('other').toString('base64')}?=` }],
      ['no name', { 'mcp-name': '' }],
      ['another revision', { 'mcp-protocol-version': '2025-11-25' }],
      ['a revision to come', { 'mcp-protocol-version': '2027-01-01' }],
    ])('%s is -32020', async (_what, changed) => {
      const before = web.messages.length;
      const answer = await post(url, message, { ...headers, ...changed });
      expect(answer.status).toBe(400);
      expect(messageOf(answer)).toMatchObject({ id: 1, error: { code: -32020 } });
      expect(web.messages.slice(before)).toEqual([]);
    });

    it.each(['mcp-method', 'mcp-name', 'mcp-protocol-version'])('a missing %s is -32020', async (name) => {
      const { [name]: _left, ...others } = headers;
      expect(messageOf(await post(url, message, others))).toMatchObject({ error: { code: -32020 } });
    });

    it('the true ones, wrapped or not, are taken', async () => {
      expect(textOf(await post(url, message, headers))).toBe('a');
      const wrapped = { 'mcp-name': `=?base64?${Buffer.from('web_say').toString('base64')}?=` };
      expect(textOf(await post(url, message, { ...headers, ...wrapped }))).toBe('a');
    });
  });

  it('13. CVE-2025-53366: a header block that is no HTTP does not disturb anybody', async () => {
    for (const bytes of [
      '\0\0\0\0',
      '\x16\x03\x01\x02\x00',
      'GET\r\n\r\n',
      'POST /mcp HTTP/9.9\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ])
      expect(await raw(url, Buffer.from(bytes, 'latin1'), 300)).not.toMatch(/^HTTP\/1\.1 2/);
    expect((await post(url, '{"jsonrpc":"2.0","id":1,"method":"ping"}')).status).toBe(200);
  });
});
