import { lookup as resolve } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { SallyError } from '../errors.ts';
import { type AddressRange, isAllowedAddress } from './addresses.ts';

/** An IP address written into the URL never reaches the resolver, so it is checked here. */
export function refuseLiteral(url: URL, range: AddressRange): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused(url.protocol, range);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isAllowedAddress(host, range)) throw refused(host, range);
}

/** Resolves like the system does, and refuses a name as soon as one of its addresses is out of range. */
export function guardedLookup(range: AddressRange): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const bad = addresses.find(({ address }) => !isAllowedAddress(address, range));
      if (bad) return callback(refused(`${hostname} (${bad.address})`, range), '', 0);
      if (options.all) return callback(null, addresses);
      const [chosen] = addresses;
      return callback(null, chosen?.address ?? '', chosen?.family ?? 0);
    });
  };
}

function refused(what: string, range: AddressRange): SallyError {
  // In the private range only link-local and reserved addresses are left to refuse, and nothing opens those.
  const hint =
    range === 'private'
      ? 'link-local and reserved addresses are never contacted'
      : 'a server of your own network needs allowPrivateEndpoint: true in its manifest, or to be run by its URL';
  return new SallyError('fetch.address_refused', `requests to ${what} are not allowed`, { hint });
}
