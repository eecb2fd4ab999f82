import { hkdfSync } from 'node:crypto';
import { SallyError, type Secret } from '../base/index.ts';

/** The keys of one purpose, one for each secret: the first is for writing, all are for reading. */
export type DerivedKeys = readonly [Buffer, ...Buffer[]];

/** The HMAC secrets of a server. Nothing uses them as they are: every purpose gets keys of its own. */
export interface ServerSecrets {
  derive(purpose: string): DerivedKeys;
}

const LEAST_BYTES = 32;
const KEY_BYTES = 32;

/** The server's name is part of every key, so that rows of two servers with one secret cannot be exchanged. */
export function createServerSecrets(
  server: string,
  secrets: readonly [Secret | Buffer, ...(Secret | Buffer)[]],
): ServerSecrets {
  const [first, ...others] = secrets;
  const newest = material(first, 0);
  const older = others.map((secret, index) => material(secret, index + 1));
  return {
    derive(purpose) {
      const key = (secret: Buffer) =>
        Buffer.from(hkdfSync('sha256', secret, '', JSON.stringify(['sallyport', server, purpose]), KEY_BYTES));
      return [key(newest), ...older.map(key)];
    },
  };
}

function material(secret: Secret | Buffer, index: number): Buffer {
  const bytes = Buffer.isBuffer(secret) ? secret : Buffer.from(secret.reveal(), 'utf8');
  if (bytes.length >= LEAST_BYTES) return bytes;
  throw new SallyError(
    'config.invalid',
    `hmacSecretRefs[${index}] has ${bytes.length} bytes, fewer than ${LEAST_BYTES}`,
    { hint: 'make one with: openssl rand -base64 48' },
  );
}
