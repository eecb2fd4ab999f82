import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SallyError } from '../base/index.ts';
import { isNotification, isRequest, isResponse, parseClientMessage, parseMessage } from './json-rpc.ts';

describe('reading a JSON-RPC message', () => {
  it('tells requests, notifications and responses apart', () => {
    expect(isRequest(parseMessage('{"jsonrpc":"2.0","id":1,"method":"ping"}'))).toBe(true);
    expect(isNotification(parseMessage('{"jsonrpc":"2.0","method":"notifications/initialized"}'))).toBe(true);
    expect(isResponse(parseMessage('{"jsonrpc":"2.0","id":"a","result":{}}'))).toBe(true);
    expect(isResponse(parseMessage('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}'))).toBe(true);
  });

  it('keeps fields it does not know', () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"a":[1]}},"trace":7}';
    expect(parseMessage(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['{', 'call.parse_error'],
    ['', 'call.parse_error'],
    ['[]', 'call.invalid_request'],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 'call.invalid_request'],
    ['"text"', 'call.invalid_request'],
    ['null', 'call.invalid_request'],
    ['{"id":1,"method":"ping"}', 'call.invalid_request'],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":1,"method":7}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":1,"method":""}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":1}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":1,"result":7}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}', 'call.invalid_request'],
    ['{"jsonrpc":"2.0","result":{}}', 'call.invalid_request'],
  ])('refuses %s', (text, code) => {
    expect(() => parseMessage(text)).toThrow(expect.objectContaining({ code }));
  });

  it('throws nothing but its own refusals, whatever it is given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        try {
          parseMessage(text);
        } catch (error) {
          expect(error).toBeInstanceOf(SallyError);
        }
      }),
    );
  });
});

describe('reading what a client posted', () => {
  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"x":2}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\\u0061me":"b"}}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","NAME":"b"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name\\u0000":"b"}}',
    `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`,
  ])('refuses %s, which others may read differently', (text) => {
    expect(() => parseClientMessage(text)).toThrow(expect.objectContaining({ code: 'call.invalid_request' }));
  });

  it('keeps what was written, digit for digit', () => {
    const read = parseClientMessage(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":12345678901234567890.10}}}',
    );
    expect('raw' in read && read.raw?.get('arguments')).toBe('{"n":12345678901234567890.10}');
  });
});
