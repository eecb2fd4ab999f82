import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../base/index.ts';
import { createGuard, type Guard, isLoopback } from './guard.ts';

function request(headers: Record<string, string>, method = 'POST'): IncomingMessage {
  return { headers, method } as unknown as IncomingMessage;
}

/** Both checks, as the router makes them. */
function checked(guard: Guard, pages: Route['pages'] = 'own'): (request: IncomingMessage) => void {
  return (request) => {
    guard.checkHost(request);
    guard.checkPage(request, pages);
  };
}

describe('on a loopback address', () => {
  const strict = createGuard({
    host: '127.0.0.1',
    allowedHosts: ['tunnel.example'],
    allowedOrigins: ['https://app.example'],
    trustProxyHeaders: false,
  });
  const guard = checked(strict);

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

  it('takes a name it was told', () => {
    expect(() => guard(request({ host: 'tunnel.example' }))).not.toThrow();
  });

  it('refuses what a browser says comes from another site', () => {
    expect(() => guard(request({ host: 'localhost:4483', 'sec-fetch-site': 'cross-site' }))).toThrow();
    expect(() => guard(request({ host: 'localhost:4483', 'sec-fetch-site': 'same-origin' }))).not.toThrow();
  });

  it('refuses a request without a host', () => {
    expect(() => guard(request({}))).toThrow(expect.objectContaining({ code: 'listener.host_refused' }));
  });

  it.each([
    'http://localhost:4483',
    'http://LOCALHOST:4483',
    'http://127.0.0.1:4483',
    'http://[::1]:4483',
    'https://app.example',
  ])('takes the origin %s', (origin) => {
    expect(() => guard(request({ host: 'localhost:4483', origin }))).not.toThrow();
  });

  it.each([
    'http://evil.example',
    'http://localhost:3000',
    'http://localhost',
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

  it('takes a form of our own page that sends no referrer, and so no origin', () => {
    const form = { host: 'localhost', origin: 'null' };
    expect(() => guard(request({ ...form, 'sec-fetch-site': 'same-origin' }))).not.toThrow();
    expect(() => guard(request({ ...form, 'sec-fetch-site': 'cross-site' }))).toThrow();
    expect(() => guard(request({ ...form, 'sec-fetch-site': 'same-site' }))).toThrow();
    expect(() => guard(request(form))).toThrow();
  });

  it('takes every page where nothing depends on who sent it, by the right host', () => {
    const open = checked(strict, 'any');
    expect(() => open(request({ host: 'localhost:4483', origin: 'https://evil.example' }))).not.toThrow();
    expect(() => open(request({ host: 'evil.example' }))).toThrow();
  });

  describe('where users are led to', () => {
    const door = checked(strict, 'navigation');
    const led = { host: 'localhost:4483', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };

    it('takes a link or a redirect from anywhere', () => {
      expect(() => door(request({ ...led, 'sec-fetch-dest': 'document' }, 'GET'))).not.toThrow();
      expect(() => door(request({ ...led, origin: 'null' }, 'GET'))).not.toThrow();
    });

    it.each([
      ['a form of another site', led, 'POST'],
      ['a frame of another site', { ...led, 'sec-fetch-dest': 'iframe' }, 'GET'],
      ['a script of another site', { ...led, 'sec-fetch-mode': 'cors', origin: 'https://evil.example' }, 'GET'],
      ['an image of another site', { ...led, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, 'GET'],
    ])('refuses %s', (_what, headers, method) => {
      expect(() => door(request(headers, method))).toThrow(
        expect.objectContaining({ code: 'listener.origin_refused' }),
      );
    });
  });
});

describe('on an address of the network', () => {
  const guard = checked(
    createGuard({ host: '0.0.0.0', allowedHosts: ['mcp.example.net'], allowedOrigins: [], trustProxyHeaders: false }),
  );

  it('takes the names of this machine and those it was told', () => {
    expect(() => guard(request({ host: 'mcp.example.net' }))).not.toThrow();
    expect(() => guard(request({ host: '127.0.0.1:4483' }))).not.toThrow();
    expect(() => guard(request({ host: 'evil.example' }))).toThrow();
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
