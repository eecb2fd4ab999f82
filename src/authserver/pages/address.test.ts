import { describe, expect, it } from 'vitest';
import { destinationOf, safeAddress } from './address.ts';

describe('where an answer goes', () => {
  it.each([
    ['https://claude.ai/api/callback', { kind: 'website', host: 'claude.ai' }],
    ['https://claude.ai:8443/cb', { kind: 'website', host: 'claude.ai:8443' }],
    ['https://claude.ai@evil.example/cb', { kind: 'website', host: 'evil.example' }],
    ['https://раypal.example/cb', { kind: 'website', host: 'xn--ypal-43d9g.example' }],
    ['http://127.0.0.1:53117/callback', { kind: 'this-computer', host: '127.0.0.1:53117' }],
    ['http://2130706433/callback', { kind: 'this-computer', host: '127.0.0.1' }],
    ['http://[::1]:7/callback', { kind: 'this-computer', host: '[::1]:7' }],
    ['http://localhost/callback', { kind: 'this-computer', host: 'localhost' }],
    ['https://localhost.evil.example/', { kind: 'website', host: 'localhost.evil.example' }],
    ['https://127.0.0.1.evil.example/', { kind: 'website', host: '127.0.0.1.evil.example' }],
    ['cursor://anysphere/callback', { kind: 'app', scheme: 'cursor:' }],
    ['com.example.app:/callback', { kind: 'app', scheme: 'com.example.app:' }],
    ['not an address', { kind: 'app', scheme: 'not an address' }],
  ])('is told from %s', (redirectUri, destination) => {
    expect(destinationOf(redirectUri)).toEqual(destination);
  });
});

describe('an address that a page leads to', () => {
  it.each([
    '/oauth/interaction/abc/finish?x=1&y=2',
    'https://login.example/authorize?client_id=a',
    'http://127.0.0.1:4480/authorize',
    'http://localhost:4480/',
  ])('may be %s', (address) => {
    expect(safeAddress(address)).toBe(address);
  });

  it.each([
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'cursor://callback',
    'http://example.com/',
    'https://user:word@example.com/',
    '//evil.example/',
    '/\\evil.example/',
    '/\t/evil.example/',
    '/a\\b',
    'relative',
    '',
  ])('is never %j', (address) => {
    expect(safeAddress(address)).toBeUndefined();
  });
});
