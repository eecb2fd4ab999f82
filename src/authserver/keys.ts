import { SallyError, type Secret } from '../base/index.ts';
import { generateSigningKey, parseSigningKey, type SigningKey, SigningKeyError } from '../oauth/index.ts';

/** The first signs, all are published: a token outlives the turn of the key that signed it. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

/** The configured keys, or a key of this process when there are none. */
export async function resolveSigningKeys(
  configured: readonly Secret[],
  ephemeral: () => Promise<SigningKey>,
): Promise<SigningKeys> {
  const [first, ...others] = await Promise.all(configured.map(readKey));
  return first ? [first, ...others] : [await ephemeral()];
}

export { generateSigningKey };

async function readKey(secret: Secret, index: number): Promise<SigningKey> {
  try {
    return await parseSigningKey(secret.reveal());
  } catch (error) {
    if (!(error instanceof SigningKeyError)) throw error;
    throw new SallyError('config.invalid', `signingKeySecretRefs[${index}] cannot be used: ${error.message}`, {
      hint: 'make a key with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256',
    });
  }
}
