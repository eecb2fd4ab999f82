import { describe, expect, it } from 'vitest';
import { isAllowedAddress } from './addresses.ts';

describe('addresses a request may go to', () => {
  it.each(['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is public', (address) => {
    expect(isAllowedAddress(address, 'public')).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
  ])('%s is private: refused unless the owner said so', (address) => {
    expect(isAllowedAddress(address, 'public')).toBe(false);
    expect(isAllowedAddress(address, 'private')).toBe(true);
  });

  it.each([
    '169.254.169.254',
    '0.0.0.0',
    '::',
    'fe80::1',
    '::ffff:169.254.169.254',
    '255.255.255.255',
    '224.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::',
    'fd00:ec2::254',
    '100.100.100.200',
  ])('%s is never a target', (address) => {
    expect(isAllowedAddress(address, 'public')).toBe(false);
    expect(isAllowedAddress(address, 'private')).toBe(false);
  });

  it('refuses what is not an IP address', () => {
    expect(isAllowedAddress('localhost', 'private')).toBe(false);
  });
});
