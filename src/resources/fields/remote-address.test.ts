import { describe, expect, it } from 'vitest';
import { FORBIDDEN_HOST, matches, NUMERIC_HOST, PLAIN_IPV4, PRIVATE_HOST } from './remote-address.ts';
import { HttpUrl, IssuerUrl, OwnIssuerUrl, SecureUrl } from './urls.ts';

/** What the rules of MCPServerEntry say about an address. */
function verdict(url: string): string {
  if (!HttpUrl.safeParse(url).success) return 'no URL';
  if (matches(NUMERIC_HOST, url) && !matches(PLAIN_IPV4, url)) return 'disguised';
  if (matches(FORBIDDEN_HOST, url)) return 'forbidden';
  return matches(PRIVATE_HOST, url) ? 'private' : 'public';
}

describe('a remote address is', () => {
  it.each([
    [
      'public',
      [
        'https://wiki.example.net/mcp',
        'http://8.8.8.8',
        'https://100.63.0.1',
        'https://172.32.0.1/',
        'https://[2a00:1450::1]/',
        'https://10.example.net',
        'https://localhost.example.net',
        'http://3com',
        'https://x.dev:8443?a=b',
      ],
    ],
    [
      'private',
      [
        'http://localhost',
        'http://LOCALHOST:1/',
        'http://localhost./',
        'http://a.localhost',
        'http://127.0.0.1',
        'http://127.255.0.1:80/x',
        'http://10.1.2.3',
        'http://172.16.0.1',
        'http://172.31.255.255',
        'http://192.168.1.1',
        'http://100.64.0.1',
        'http://198.18.0.1',
        'http://224.0.0.1',
        'http://[::1]:8080/',
        'http://[fd12::1]/',
        'http://[0:0:0:0:0:0:0:1]/',
        'http://[::7f00:1]',
        'http://[2002:7f00:1::]/',
        'http://[2001:0:1::]/',
        'http://svc.ns.svc.cluster.local',
      ],
    ],
    [
      'forbidden',
      [
        'http://169.254.169.254/latest',
        'http://0.0.0.0',
        'http://[fe80::1]',
        'http://[FEBF::1]',
        'http://[fd00:ec2::254]',
        'http://[fd00:0ec2::254]',
        'http://[::ffff:169.254.169.254]',
        'http://[::ffff:a9fe:a9fe]',
        'http://[0:0:0:0:0:ffff:7f00:1]',
        'http://[64:ff9b::a9fe:a9fe]',
        'http://[::]',
        'http://100.100.100.200',
        'http://metadata.google.internal/',
        'http://METADATA.google.internal.',
        'https://kubernetes.default.svc',
        'https://kubernetes.default',
      ],
    ],
    [
      'disguised',
      [
        'http://2130706433',
        'http://0x7f000001',
        'http://127.1',
        'http://0177.0.0.1',
        'http://127.0.0.1.',
        'http://0x7f.0.0.1:80/',
        'http://1.2.3.0x4',
      ],
    ],
    [
      'no URL',
      [
        'ftp://x',
        'http://',
        'http://user@x',
        'http://１２７.0.0.1',
        'http://x\\@y',
        'http://%31%32',
        'http://[::1%25lo]',
        'http://x y',
        '//x',
        'http://x:999999',
        'http://1.2.3.999',
        'http://[1::2::3]',
        'javascript:alert(1)',
      ],
    ],
  ])('%s', (expected, urls) => {
    expect(urls.map((url) => [url, verdict(url)])).toEqual(urls.map((url) => [url, expected]));
  });
});

describe('an address that gets credentials', () => {
  it.each([
    'https://x.example',
    'https://x.example:8443/a?b=c',
    'http://localhost:8080/x',
    'http://127.0.0.1',
    'http://[::1]:1/',
  ])('may be %s', (url) => {
    expect(SecureUrl.safeParse(url).success).toBe(true);
  });

  it.each([
    'http://x.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.1@evil.example',
    'http://localhost@evil.example',
    'http://10.0.0.1',
    'ws://localhost',
  ])('may not be %s', (url) => {
    expect(SecureUrl.safeParse(url).success).toBe(false);
  });
});

it('an issuer has no query and no fragment, and ours no closing slash', () => {
  const accepts = (field: typeof IssuerUrl, ...urls: string[]): boolean[] =>
    urls.map((url) => field.safeParse(url).success);
  expect(
    accepts(IssuerUrl, 'https://a.example/', 'https://a.example/x', 'https://a.example?x', 'https://a.example/#x'),
  ).toEqual([true, true, false, false]);
  expect(
    accepts(OwnIssuerUrl, 'https://a.example', 'https://a.example/x', 'https://a.example/', 'https://a.example/x/'),
  ).toEqual([true, true, false, false]);
});
