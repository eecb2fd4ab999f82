import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createPublicUrl } from './public-url.ts';

const access = { host: '127.0.0.1', allowedHosts: [], allowedOrigins: [] };
const trusting = createPublicUrl(undefined, { ...access, trustProxyHeaders: true });
const strict = createPublicUrl(undefined, { ...access, trustProxyHeaders: false });

function request(headers: Record<string, string>): IncomingMessage {
  return { headers: { host: 'Localhost:4483', ...headers } } as unknown as IncomingMessage;
}

const FORWARDED = {
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'mcp.example.net',
  'x-forwarded-port': '8443',
  'x-forwarded-prefix': '/desk/',
};

it('what was configured wins over every header', () => {
  const fixed = createPublicUrl('https://mcp.example.net/mcp', { ...access, trustProxyHeaders: true });
  expect(fixed(request({ ...FORWARDED, 'x-forwarded-host': 'evil.example' }), '/mcp')).toBe(
    'https://mcp.example.net/mcp',
  );
});

it('without trust only the checked Host counts', () => {
  expect(strict(request({}), '/mcp')).toBe('http://localhost:4483/mcp');
  expect(strict(request(FORWARDED), '/mcp')).toBe('http://localhost:4483/mcp');
});

describe('with trust in the proxy', () => {
  it('its words make the URL', () => {
    expect(trusting(request(FORWARDED), '/mcp')).toBe('https://mcp.example.net:8443/desk/mcp');
  });

  it.each<[string, Record<string, string>, string]>([
    ['the standard port', { ...FORWARDED, 'x-forwarded-port': '443' }, 'https://mcp.example.net/desk/mcp'],
    ['a port in the host', { ...FORWARDED, 'x-forwarded-host': 'a.example:1' }, 'https://a.example:1/desk/mcp'],
    ['several proxies', { 'x-forwarded-host': 'a.example, b.example' }, 'http://a.example/mcp'],
    ['the scheme alone', { 'x-forwarded-proto': 'HTTPS' }, 'https://localhost:4483/mcp'],
  ])('%s', (_what, headers, url) => {
    expect(trusting(request(headers), '/mcp')).toBe(url);
  });

  it.each<Record<string, string>>([
    { 'x-forwarded-host': 'evil.example/path?' },
    { 'x-forwarded-host': 'user@evil.example' },
    { 'x-forwarded-host': '"evil' },
    { 'x-forwarded-proto': 'javascript' },
    { 'x-forwarded-port': '1/..' },
    { 'x-forwarded-host': 'a.example', 'x-forwarded-port': '99999' },
    { 'x-forwarded-host': '1.2.3.4.5' },
    { 'x-forwarded-prefix': '//evil.example' },
    { 'x-forwarded-prefix': '/a"b' },
    { 'x-forwarded-prefix': 'relative' },
    { x_forwarded_host: 'evil.example' },
  ])('35. what is no part of a URL is as good as not said: %j', (headers) => {
    expect(trusting(request(headers), '/mcp')).toBe('http://localhost:4483/mcp');
  });
});
