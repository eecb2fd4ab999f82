import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { readAuthorization, refuseMalformed } from './authorization.ts';

/** As Node gives it: of two headers the first is in `headers`, both are in `rawHeaders`. */
function request(...values: readonly string[]): IncomingMessage {
  const [authorization] = values;
  const headers = authorization === undefined ? {} : { authorization };
  const rawHeaders = ['Host', 'localhost', ...values.flatMap((value) => ['aUthorization', value])];
  return { headers, rawHeaders } as unknown as IncomingMessage;
}

/** As for a token that nobody has seen before. */
function read(request: IncomingMessage) {
  const presented = readAuthorization(request);
  if (presented) refuseMalformed(presented);
  return presented;
}

it.each([
  ['Bearer abc', { scheme: 'bearer', token: 'abc' }],
  ['bearer abc', { scheme: 'bearer', token: 'abc' }],
  ['BEARER  abc ', { scheme: 'bearer', token: 'abc' }],
  ['DPoP a.b-c_d~e+f/g==', { scheme: 'dpop', token: 'a.b-c_d~e+f/g==' }],
])('%j is a token', (header, presented) => {
  expect(read(request(header))).toEqual(presented);
});

it.each([undefined, 'Basic dXNlcjpwYXNz', 'Negotiate x', 'BearerX abc', ''])('%j is no token of ours', (header) => {
  expect(read(header === undefined ? request() : request(header))).toBeUndefined();
});

describe('what cannot be read is refused, not overlooked', () => {
  it.each([
    'Bearer',
    'Bearer ',
    'Bearer a b',
    'Bearer a,b',
    'Bearer "abc"',
    'Bearer abc, Bearer def',
    'Bearer a=b',
    'Bearer \u00e9',
    'bearer token="x"',
  ])('%j', (header) => {
    expect(() => read(request(header))).toThrow(expect.objectContaining({ code: 'incoming.request_malformed' }));
  });

  it('a token of more than 16 KiB', () => {
    expect(read(request(`Bearer ${'a'.repeat(16 * 1024)}`))).toBeDefined();
    expect(() => read(request(`Bearer ${'a'.repeat(16 * 1024 + 1)}`))).toThrow();
  });

  it('two headers, whatever is in them', () => {
    expect(() => read(request('Bearer abc', 'Bearer abc'))).toThrow();
    expect(() => read(request('Basic abc', 'Bearer abc'))).toThrow();
  });
});
