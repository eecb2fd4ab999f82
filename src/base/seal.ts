import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Turns a value into a text that only we can read and nobody can change, and back. */
export interface Sealer {
  seal(value: unknown): string;
  /** What was sealed, or `undefined` when the text is not one of ours, was altered, or belongs to another `purpose`. */
  open(text: string): unknown;
}

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM with the purpose as associated data: a text sealed for one use cannot be opened in another. */
export function createSealer(key: Uint8Array, purpose: string): Sealer {
  const context = Buffer.from(purpose, 'utf8');
  return {
    seal(value) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(context);
      const sealed = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(text) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
      try {
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES)).setAAD(context);
        decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
        const opened = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
        return JSON.parse(opened.toString('utf8'));
      } catch {
        return undefined; // altered, or sealed by somebody else
      }
    },
  };
}
