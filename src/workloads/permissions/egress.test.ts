import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { decide, type EgressRules, plainHost, whyNotAddress } from './egress.ts';

const rules = (said: Partial<EgressRules>): EgressRules => ({
  all: false,
  hosts: [],
  ports: [],
  gateway: false,
  ...said,
});
const NOTHING = rules({});
const ACME = rules({ hosts: ['api.acme.dev', '.cdn.dev', '10.1.2.3'], ports: [443, 8443] });

describe('what a server may reach', () => {
  it.each([
    ['api.acme.dev', 443, true],
    ['api.acme.dev', 8443, true],
    ['api.acme.dev', 80, false],
    ['acme.dev', 443, false],
    ['evil-api.acme.dev', 443, false],
    ['api.acme.dev.evil.com', 443, false],
    ['cdn.dev', 443, true],
    ['a.b.cdn.dev', 443, true],
    ['evilcdn.dev', 443, false],
    ['10.1.2.3', 443, true],
    ['10.1.2.4', 443, false],
  ])('%s:%d by a list: %s', (host, port, allowed) => {
    expect(decide(ACME, host, port).allowed).toBe(allowed);
  });

  it('is nothing when nothing is said', () => {
    expect(decide(NOTHING, 'acme.dev', 443)).toMatchObject({ allowed: false, why: 'the profile allows nothing' });
  });

  it('is every host where only ports are said, and every port where only hosts are', () => {
    expect(decide(rules({ ports: [443] }), 'acme.dev', 443).allowed).toBe(true);
    expect(decide(rules({ ports: [443] }), 'acme.dev', 80).allowed).toBe(false);
    expect(decide(rules({ hosts: ['acme.dev'] }), 'acme.dev', 25).allowed).toBe(true);
  });

  it.each(['host.docker.internal', 'gateway.docker.internal', 'host.containers.internal', 'localhost', 'a.localhost'])(
    'is never this machine as %s, even where everything is allowed',
    (host) => {
      expect(decide(rules({ all: true, hosts: [host] }), host, 80).allowed).toBe(false);
      expect(decide(rules({ all: true, gateway: true }), host, 80).allowed).toBe(true);
    },
  );
});

describe('the address behind a name', () => {
  const exact = { allowed: true, why: '', exact: true };
  const own = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);

  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '0.0.0.0', '::', ...own])(
    'is not %s, which is this machine',
    (address) => {
      expect(whyNotAddress(rules({ all: true }), exact, address)).toContain('this machine');
    },
  );

  it.each(['169.254.169.254', 'fe80::1', '100.100.100.200', '::ffff:169.254.169.254', '255.255.255.255'])(
    'is not %s, gateway or not',
    (address) => {
      expect(whyNotAddress(rules({ all: true, gateway: true }), exact, address)).toContain('link-local');
    },
  );

  it('is in a private network only for a host that is named itself', () => {
    expect(whyNotAddress(ACME, exact, '192.168.7.7')).toBeUndefined();
    expect(whyNotAddress(ACME, { ...exact, exact: false }, '192.168.7.7')).toContain('private network');
    expect(whyNotAddress(ACME, { ...exact, exact: false }, '93.184.216.34')).toBeUndefined();
  });
});

describe('the spelling of a host', () => {
  it.each([
    ['API.Acme.dev.', 'api.acme.dev'],
    ['[::1]', '::1'],
    ['[::FFFF:10.0.0.1]', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.1'],
  ])('%s is %s', (text, host) => {
    expect(plainHost(text)).toBe(host);
  });

  it.each(['', '.', 'a..b', 'a b', 'a/b', 'a@b', '2130706433', '0x7f.1', '127.1', 'ü.dev', 'a\nb', 'x'.repeat(300)])(
    '%j is none',
    (text) => {
      expect(plainHost(text)).toBeUndefined();
    },
  );
});
