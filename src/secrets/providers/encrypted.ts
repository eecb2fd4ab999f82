import { readBounded, replaceFile, withLock } from '../../base/files/index.ts';
import { SallyError, Secret } from '../../base/index.ts';
import type { Password, PasswordSource } from './password.ts';
import type { SecretProvider } from './provider.ts';
import {
  createHeader,
  damaged,
  deriveKey,
  type Header,
  LIGHT_COST,
  readHeader,
  type ScryptCost,
  seal,
  USUAL_COST,
  unseal,
} from './sealed-file.ts';

export interface EncryptedOptions {
  readonly file: string;
  readonly password: PasswordSource;
  /** What a guess at a password that a person chose costs. */
  readonly cost?: ScryptCost;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** What the file holds, and how to write it back. */
interface Opened {
  readonly secrets: Map<string, string>;
  readonly header: Header;
  readonly key: Buffer;
}

/**
 * All secrets in one file, which only its password opens. The file is read anew for each question, so that what another
 * command stored is seen; the key is made once, since that is meant to be slow.
 */
export function encryptedProvider({ file, password, cost = USUAL_COST }: EncryptedOptions): SecretProvider {
  let known: { readonly salt: Buffer; readonly key: Buffer } | undefined;

  async function read(): Promise<Opened | undefined> {
    const bytes = await readBounded(file, MAX_BYTES);
    if (bytes === undefined) return undefined;
    const header = readHeader(bytes, file);
    const asked = known?.salt.equals(header.salt) ? undefined : await password.read();
    const key = asked ? await deriveKey(asked.value, header) : (known?.key ?? Buffer.alloc(0));
    const content = unseal(bytes, key, header);
    if (content === undefined) throw asked ? wrongPassword(file, asked) : damaged(file, 'it was changed');
    known = { salt: header.salt, key };
    return { secrets: parseContent(content, file), header, key };
  }

  async function begin(): Promise<Opened> {
    const { value, random } = await password.create();
    const header = createHeader(random ? LIGHT_COST : cost);
    const key = await deriveKey(value, header);
    known = { salt: header.salt, key };
    return { secrets: new Map(), header, key };
  }

  function change<T>(work: (secrets: Map<string, string>) => T): Promise<T> {
    return withLock(`${file}.lock`, async () => {
      const { secrets, header, key } = (await read()) ?? (await begin());
      const before = JSON.stringify([...secrets]);
      const result = work(secrets);
      if (JSON.stringify([...secrets]) === before) return result;
      const content = Buffer.from(JSON.stringify({ secrets: Object.fromEntries(secrets) }));
      if (content.length > MAX_BYTES / 2) throw tooMuch(file);
      await replaceFile(file, seal(content, key, header));
      return result;
    });
  }

  return {
    kind: 'encrypted',
    canWrite: true,
    describe: () => `the encrypted file ${file}`,
    async get(name) {
      const value = (await read())?.secrets.get(name);
      return value === undefined ? undefined : new Secret(value);
    },
    set: async (name, value) => void (await change((secrets) => secrets.set(name, value.reveal()))),
    delete: async (name) => ((await read())?.secrets.has(name) ? change((secrets) => secrets.delete(name)) : false),
    list: async () => [...((await read())?.secrets.keys() ?? [])].sort(),
  };
}

function parseContent(content: Buffer, file: string): Map<string, string> {
  const { secrets } = JSON.parse(content.toString('utf8')) as { secrets?: unknown };
  if (typeof secrets !== 'object' || secrets === null) throw damaged(file, 'its content is not a list of secrets');
  return new Map(Object.entries(secrets).map(([name, value]) => [name, String(value)]));
}

function wrongPassword(file: string, { from }: Password): SallyError {
  return new SallyError('secret.locked', `the password from ${from} does not open ${file}`, {
    hint: 'it is the wrong password, or the file was changed by something else than sally',
  });
}

function tooMuch(file: string): SallyError {
  return new SallyError('usage.invalid', `${file} would become larger than 8 MiB`, {
    hint: 'delete secrets that are not needed; large files are not secrets',
  });
}
