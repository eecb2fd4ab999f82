import { BlockList, isIP } from 'node:net';

/**
 * Which addresses a request may go to. `public` is for URLs that came from outside; `private` adds the machine itself and
 * the private ranges, for URLs whose owner said that they lie in his own network.
 */
export type AddressRange = 'public' | 'private';

/** Never a target, whoever asks: unspecified, link-local (cloud metadata lives there), multicast, reserved. */
const NEVER = blockList(
  // 100.100.100.200 and 168.63.129.16 hand out credentials of a machine like 169.254.169.254 does.
  ['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4', '100.100.100.200/32', '168.63.129.16/32'],
  // The last ones carry 169.254.0.0/16 inside (NAT64, 6to4), or are a metadata address themselves.
  ['::/128', 'fe80::/10', 'ff00::/8', 'fec0::/10', '64:ff9b::a9fe:0/112', '2002:a9fe::/32', 'fd00:ec2::254/128'],
);

/** Not reachable from the internet, or a way around the table (6to4, NAT64, Teredo carry an IPv4 address inside). */
const PRIVATE = blockList(
  [
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
  ],
  ['::1/128', 'fc00::/7', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/32', '2001:db8::/32', '2002::/16'],
);

/** Is this IP address one that a request of that range may go to? A text that is not an IP address is not. */
export function isAllowedAddress(address: string, range: AddressRange): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  if (NEVER.check(address, kind)) return false;
  return range === 'private' || !PRIVATE.check(address, kind);
}

function blockList(v4: readonly string[], v6: readonly string[]): BlockList {
  const list = new BlockList();
  for (const [kind, subnets] of [['ipv4', v4] as const, ['ipv6', v6] as const]) {
    for (const subnet of subnets) {
      const [network = '', bits] = subnet.split('/');
      list.addSubnet(network, Number(bits), kind);
    }
  }
  return list;
}
