import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tempFolder } from './sally.ts';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate for this machine that nobody has signed, so that only who is told trusts it. */
export async function makeCertificate(): Promise<Certificate> {
  await using folder = await tempFolder();
  const [cert, key] = [join(folder.path, 'cert.pem'), join(folder.path, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  await promisify(execFile)('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', cert]);
  return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
}
