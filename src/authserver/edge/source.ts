import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isAllowedAddress } from '../../base/http/index.ts';

/** Whom a request is counted for, or `undefined` when that cannot be told. */
export type SourceOf = (request: IncomingMessage) => string | undefined;

/**
 * The address of the other end. One that is not public is most likely a proxy, and everybody behind it would be counted as one;
 * such requests fall under the limits for all together.
 */
export const addressOf: SourceOf = (request) => sourceFrom(request.socket.remoteAddress);

/** Behind a proxy whose word counts it is the address that the proxy itself saw: the last one, since a client can write the others. */
export const forwardedAddressOf: SourceOf = (request) => {
  const said = [request.headers['x-forwarded-for'] ?? []].flat().join(',');
  const last = said.split(',').at(-1)?.trim() ?? '';
  return isIP(last) === 0 ? addressOf(request) : sourceFrom(last);
};

function sourceFrom(remote: string | undefined): string | undefined {
  const address = remote?.replace(/^::ffff:(?=\d+\.)/, '');
  if (address === undefined || !isAllowedAddress(address, 'public')) return undefined;
  return address.includes(':') ? networkOf(address) : address;
}

/** A customer gets at least a /64 of IPv6 and can change the rest at will. */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length;
  return [...groups, ...Array<string>(missing).fill('0'), ...(tail ?? '').split(':')].slice(0, 4).join(':');
}
