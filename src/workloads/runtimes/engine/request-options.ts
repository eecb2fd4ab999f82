import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import type { EngineAddress } from './address.ts';

/** How Node.js reaches an engine. With `ca` the connection is TLS, and both sides show certificates. */
export function requestOptions(
  address: EngineAddress,
): Pick<RequestOptions, 'socketPath' | 'host' | 'port' | 'ca' | 'cert' | 'key'> {
  if ('socket' in address) return { socketPath: address.socket };
  const { host, port, certificates } = address;
  if (certificates === undefined) return { host, port };
  const read = (name: string): string => readFileSync(join(certificates, name), 'utf8');
  return { host, port, ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') };
}
