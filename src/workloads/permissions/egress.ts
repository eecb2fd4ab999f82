import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isAllowedAddress } from '../../base/http/index.ts';

/** What a server may reach. Nothing, unless something here says so. */
export interface EgressRules {
  /** Every host and port, but for this machine and addresses that nobody may reach. */
  readonly all: boolean;
  /** `host` is that host; `.host` is the host and what is below it. */
  readonly hosts: readonly string[];
  /** Any port where the list is empty. */
  readonly ports: readonly number[];
  /** This machine itself, by the names under which containers know it. */
  readonly gateway: boolean;
}

/** Yes or no, and why. */
export interface Decision {
  readonly allowed: boolean;
  readonly why: string;
  /** The name was allowed for itself, not with others: only then may it lead to a private address. */
  readonly exact: boolean;
}

/** Under these names containers know the machine that they run on. */
const GATEWAY_NAMES = new Set([
  ...['host.docker.internal', 'gateway.docker.internal', 'host.containers.internal', 'host.lima.internal'],
  ...['localhost', 'ip6-localhost', 'ip6-loopback'],
]);

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

export function isGatewayName(host: string): boolean {
  return GATEWAY_NAMES.has(host) || host.endsWith('.localhost');
}

/** One spelling for each host: `API.acme.dev.` is `api.acme.dev`. Nothing when it is no host at all. */
export function plainHost(text: string): string | undefined {
  const host = text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  if (isIP(host) !== 0) return withoutMapping(host);
  // A name whose last part is a number is an address in a spelling of its own (`0x7f.1`, `2130706433`).
  return HOST_NAME.test(host) && !/(^|\.)(0x[0-9a-f]*|[0-9]+)$/.test(host) ? host : undefined;
}

/** What the rules say about a host and a port, before anybody asks where the name leads. */
export function decide(rules: EgressRules, host: string, port: number): Decision {
  const no = (why: string): Decision => ({ allowed: false, why, exact: false });
  const yes = (why: string, exact: boolean): Decision => ({ allowed: true, why, exact });
  if (isGatewayName(host)) {
    return rules.gateway
      ? yes('--allow-docker-gateway opens this machine', true)
      : no('this machine is closed to it; --allow-docker-gateway opens it');
  }
  if (rules.all) return yes('the profile allows everything', true);
  if (rules.hosts.length === 0 && rules.ports.length === 0) return no('the profile allows nothing');
  const matching = rules.hosts.find((pattern) => matches(pattern, host));
  if (rules.hosts.length > 0 && matching === undefined) return no('the host is not in allow_host of the profile');
  if (rules.ports.length > 0 && !rules.ports.includes(port)) return no('the port is not in allow_port of the profile');
  const isExact = rules.hosts.some((pattern) => pattern.toLowerCase() === host);
  return yes(
    matching === undefined ? 'the profile allows the port for every host' : `allow_host has ${matching}`,
    isExact,
  );
}

/** Why an address is out of bounds though its name is allowed, or nothing. */
export function whyNotAddress(rules: EgressRules, { exact }: Decision, address: string): string | undefined {
  const plain = withoutMapping(address);
  if (isOwnAddress(plain))
    return rules.gateway ? undefined : 'it leads to this machine; --allow-docker-gateway opens it';
  if (!isAllowedAddress(plain, 'private')) return 'it leads to a link-local, reserved or metadata address';
  if (!exact && !isAllowedAddress(plain, 'public'))
    return 'it leads into a private network; such a host needs an entry of its own in allow_host';
  return undefined;
}

/** Loopback, and every address that an interface of this machine has: the gateways of the engines' networks are among them. */
function isOwnAddress(address: string): boolean {
  if (/^127\./.test(address) || address === '::1' || address === '0.0.0.0' || address === '::') return true;
  return Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address === address));
}

/** `::ffff:127.0.0.1` is 127.0.0.1. The URL parser knows every spelling of an IPv6 address. */
function withoutMapping(address: string): string {
  if (isIP(address) !== 6) return address;
  const plain = URL.parse(`http://[${address.replace(/%.*$/, '')}]/`)?.hostname.slice(1, -1) ?? address;
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(plain) ?? [];
  if (high === undefined || low === undefined) return plain;
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
}

function matches(pattern: string, host: string): boolean {
  const plain = pattern.toLowerCase();
  if (!plain.startsWith('.')) return plain.replace(/^\[(.*)\]$/, '$1') === host;
  return isIP(host) === 0 && (host === plain.slice(1) || host.endsWith(plain));
}
