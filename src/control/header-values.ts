import { SallyError, Secret } from '../base/index.ts';
import { readSecretFile } from '../secrets/index.ts';

/** Secret values that become headers. They stand in no message about them. */

/** RFC 9110 §5.5: one line, or whoever knows the value could add headers of his own. */
export function headerValue(header: string, value: string): string {
  if (/^[\t -~]{0,8192}$/.test(value)) return value;
  throw new SallyError(
    'usage.invalid',
    `the value for the header ${header} is not one line of at most 8192 printable ASCII characters`,
    { hint: 'correct the value' },
  );
}

/** RFC 6750 §2.1, with the further characters that some servers put into their tokens. */
export function bearerToken(value: string): string {
  if (/^[!-~]{1,8192}$/.test(value)) return value;
  throw new SallyError('usage.invalid', 'the bearer token is empty, or has characters that a token cannot have', {
    hint: 'give the token alone, without Bearer in front',
  });
}

export function readBearerFile(file: string): Secret {
  const found = readSecretFile(file);
  if (found) return new Secret(bearerToken(found.reveal().trim()));
  throw new SallyError('config.unreadable', `the file with the bearer token is not there: ${file}`, {
    hint: 'write the token into it, or correct the path',
  });
}
