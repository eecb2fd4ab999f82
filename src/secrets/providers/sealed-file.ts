import { createCipheriv, createDecipheriv, randomBytes, type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { SallyError, type Secret } from '../../base/index.ts';

/**
 * The form of the encrypted file. A first line of JSON says how to make the key from the password; behind it are a nonce, a
 * tag and the sealed content. The line is authenticated with the content, so nobody can weaken it unseen.
 */
const FORMAT = 'sallyport-secrets';
const VERSION = 1;
const NONCE = 12;
const TAG = 16;
const LONGEST_HEADER = 1_024;

export interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** About a third of a second and 128 MiB for each guess. */
export const USUAL_COST: ScryptCost = { N: 2 ** 17, r: 8, p: 1 };
/** A random password of 256 bits cannot be guessed, so work against guessing would only be waited for. */
export const LIGHT_COST: ScryptCost = { N: 2 ** 12, r: 8, p: 1 };
/** A file must not make us spend more than this, whoever wrote it. */
const MOST_MEMORY = 1024 ** 3;

export interface Header {
  readonly cost: ScryptCost;
  readonly salt: Buffer;
  /** The line itself, with its end. */
  readonly line: Buffer;
}

export function createHeader(cost: ScryptCost): Header {
  const salt = randomBytes(32);
  const kdf = { name: 'scrypt', ...cost, salt: salt.toString('base64') };
  const text = JSON.stringify({ format: FORMAT, version: VERSION, kdf, cipher: 'aes-256-gcm' });
  return { cost, salt, line: Buffer.from(`${text}\n`) };
}

export function readHeader(bytes: Buffer, file: string): Header {
  const end = bytes.subarray(0, LONGEST_HEADER).indexOf(0x0a);
  if (end === -1) throw damaged(file, 'it does not start with a line that says what it is');
  const line = bytes.subarray(0, end + 1);
  const { format, version, kdf, cipher } = parseLine(line, file);
  if (format !== FORMAT) throw damaged(file, 'it is something else');
  if (version !== VERSION) throw damaged(file, `it is of version ${String(version)}, this sally knows ${VERSION}`);
  if (cipher !== 'aes-256-gcm' || kdf?.name !== 'scrypt') throw damaged(file, 'it names a cipher that we do not use');
  const { N, r, p, salt } = kdf;
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  if (!isSane(cost) || typeof salt !== 'string') throw damaged(file, 'its first line is not one that we wrote');
  return { cost, salt: Buffer.from(salt, 'base64'), line };
}

const derive: (password: string, salt: Buffer, length: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scrypt);

export function deriveKey(password: Secret, { cost, salt }: Header): Promise<Buffer> {
  // Two keyboards may write one letter in two ways; NFKC makes them one.
  return derive(password.reveal().normalize('NFKC'), salt, 32, { ...cost, maxmem: 2 * MOST_MEMORY });
}

export function seal(content: Buffer, key: Buffer, { line }: Header): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(line);
  const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([line, nonce, cipher.getAuthTag(), sealed]);
}

/** The content, or `undefined` when the key is the wrong one or a byte of the file was changed: the two look the same. */
export function unseal(bytes: Buffer, key: Buffer, { line }: Header): Buffer | undefined {
  const body = bytes.subarray(line.length);
  if (body.length < NONCE + TAG) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, NONCE), { authTagLength: TAG }).setAAD(line);
  decipher.setAuthTag(body.subarray(NONCE, NONCE + TAG));
  try {
    return Buffer.concat([decipher.update(body.subarray(NONCE + TAG)), decipher.final()]);
  } catch {
    return undefined;
  }
}

export function damaged(file: string, why: string): SallyError {
  return new SallyError('secret.damaged', `${file} is not a file of secrets that can be read: ${why}`, {
    hint: 'put a backup in its place, or move it away to start anew',
  });
}

interface Line {
  readonly format?: unknown;
  readonly version?: unknown;
  readonly cipher?: unknown;
  readonly kdf?: Readonly<Record<string, unknown>>;
}

function parseLine(line: Buffer, file: string): Line {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // the same complaint for every kind of noise
  }
  throw damaged(file, 'its first line is not JSON');
}

function isSane({ N, r, p }: ScryptCost): boolean {
  const whole = [N, r, p].every((number) => Number.isSafeInteger(number) && number > 0);
  return whole && N > 1 && Number.isInteger(Math.log2(N)) && p <= 16 && 128 * N * r <= MOST_MEMORY;
}
