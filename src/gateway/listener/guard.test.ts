import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createGuard, isLoopback } from './guard.ts';

function request(headers: Record<string, string>): IncomingMessage {
  return { headers } as unknown as IncomingMessage;
}

describe('on a loopback address', () => {
  const guard = createGuard('127.0.0.1');

  it.each([
    'localhost',
    'localhost:4483',
    '127.0.0.1:4483',
    '127.0.0.53',
    '[::1]',
    '[::1]:4483',
    'LOCALHOST.',
    'localhost.:80',
  ])('takes the host %s', (host) => {
    expect(() => guard(request({ host }))).not.toThrow();
  });

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.evil.example',
    '[::1].evil.example',
    '192.168.1.7:4483',
    '0.0.0.0:4483',
    '[::ffff:1.2.3.4]',
    'localhost:4483@evil.example',
    'localhost, evil.example',
    'localhost:',
    '',
  ])('refuses the host %j', (host) => {
    expect(() => guard(request({ host }))).toThrow(expect.objectContaining({ code: 'listener.host_refused' }));
  });

  it('refuses a request without a host', () => {
    expect(() => guard(request({}))).toThrow(expect.objectContaining({ code: 'listener.host_refused' }));
  });

  it.each(['http://localhost:3000', 'http://LOCALHOST', 'https://localhost.'])('takes the origin %s', (origin) => {
    expect(() => guard(request({ host: 'localhost:4483', origin }))).not.toThrow();
  });

  it.each([
    'http://evil.example',
    'http://localhost.evil.example',
    'null',
    'file://',
    'http://localhost/path',
    'http://user@localhost',
    'chrome-extension://abc',
    '',
  ])('refuses the origin %j', (origin) => {
    expect(() => guard(request({ host: 'localhost:4483', origin }))).toThrow(
      expect.objectContaining({ code: 'listener.origin_refused' }),
    );
  });
});

describe('on an address of the network', () => {
  const guard = createGuard('0.0.0.0');

  it('takes any host name, since only the operator knows the right ones', () => {
    expect(() => guard(request({ host: 'mcp.example.net' }))).not.toThrow();
  });

  it('takes pages of the same host only', () => {
    expect(() => guard(request({ host: 'mcp.example.net', origin: 'https://mcp.example.net' }))).not.toThrow();
    expect(() => guard(request({ host: 'mcp.example.net', origin: 'https://evil.example' }))).toThrow();
  });
});

it.each(['127.0.0.1', '127.8.9.1', 'localhost', '::1', '[::1]', 'localhost.'])('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true);
});

it.each(['0.0.0.0', '::', '10.0.0.1', 'example.net', '1270.0.0.1', '127.0.0.1.nip.example', ''])(
  '%j is not',
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);
