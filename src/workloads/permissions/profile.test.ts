import { describe, expect, it } from 'vitest';
import { parsePermissionProfile } from '../../resources/index.ts';
import { BUILT_IN, type NetworkWishes, networkOf, parsePort } from './profile.ts';

const wishes = (said: Partial<NetworkWishes> = {}): NetworkWishes => ({
  ...{ isolate: false, gateway: false, publish: [], listens: false },
  ...said,
});
const profile = (text: object) => parsePermissionProfile(JSON.stringify(text), 'profile.json');
const ACME = profile({ network: { outbound: { allow_host: ['api.acme.dev'] } } });

describe('the network of a container', () => {
  it('is open with the profile network, and closed to our proxy when isolation is asked for', () => {
    expect(networkOf(BUILT_IN.network, wishes())).toEqual({ kind: 'bridge', publish: [] });
    expect(networkOf(BUILT_IN.network, wishes({ isolate: true }))).toMatchObject({
      kind: 'isolated',
      rules: { all: true },
    });
  });

  it('is none with the profile none, with a profile that says nothing, and with --network none', () => {
    expect(networkOf(BUILT_IN.none, wishes())).toEqual({ kind: 'none' });
    expect(networkOf(profile({}), wishes())).toEqual({ kind: 'none' });
    expect(networkOf(profile({ network: {} }), wishes())).toEqual({ kind: 'none' });
    expect(networkOf(BUILT_IN.network, wishes({ mode: 'none' }))).toEqual({ kind: 'none' });
  });

  it('is restricted by a profile that restricts, whether or not isolation was asked for', () => {
    expect(networkOf(ACME, wishes())).toMatchObject({
      kind: 'isolated',
      rules: { all: false, hosts: ['api.acme.dev'] },
    });
  });

  it.each([
    ['a restricting profile on the network of the host', ACME, { mode: 'host' }, 'cannot be enforced'],
    ['the profile none on another network', BUILT_IN.none, { mode: 'mine' }, 'cannot be enforced'],
    ['isolation on another network', BUILT_IN.network, { mode: 'container:x', isolate: true }, 'cannot be enforced'],
    ['a server that listens on the host', BUILT_IN.network, { mode: 'host', listens: true }, 'around the gate'],
    ['an open gateway without isolation', BUILT_IN.network, { gateway: true }, 'not closed'],
    ['a port of an isolated container', ACME, { publish: [{ host: 1, container: 2 }] }, 'opens no port'],
    ['a port without a network', BUILT_IN.none, { publish: [{ host: 1, container: 2 }] }, 'opens no port'],
  ])('is refused for %s', (_, chosen, said, why) => {
    expect(() => networkOf(chosen, wishes(said))).toThrow(why);
  });
});

describe('a profile file', () => {
  it.each([
    [{ netwrok: {} }],
    [{ network: { outbound: { allow_hosts: ['x'] } } }],
    [{ network: { outbound: { allow_host: ['evil\nallow all'] } } }],
    [{ network: { outbound: { allow_host: ['*'] } } }],
    [{ network: { outbound: { allow_port: [0] } } }],
    [{ privileged: 'yes' }],
  ])('with %j is refused', (text) => {
    expect(() => profile(text)).toThrow('breaks a rule');
  });
});

describe('a published port', () => {
  it('has a side outside only when it is said', () => {
    expect(parsePort('8080:80')).toEqual({ host: 8080, container: 80 });
    expect(parsePort('80')).toEqual({ host: undefined, container: 80 });
  });
  it.each(['0', '70000', '80:0', '99999:80'])('is not %s', (text) =>
    expect(() => parsePort(text)).toThrow('does not name ports'),
  );
});
