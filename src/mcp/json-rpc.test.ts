import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SallyError } from '../base/index.ts';
import { isNotification, isRequest, isResponse, parseMessage } from './json-rpc.ts';

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
