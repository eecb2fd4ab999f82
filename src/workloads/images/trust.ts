import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { SallyError } from '../../base/index.ts';
import type { TarEntry } from './tar.ts';

const BUNDLE = '/etc/ssl/certs/sallyport-bundle.pem';
const OWN = '/etc/ssl/certs/sallyport-ca.pem';

/** Certificates for a container whose way out leads through a proxy that opens TLS. */
export interface Trust {
  readonly pem: string;
  readonly files: readonly TarEntry[];
  /** Every ecosystem looks somewhere else. */
  readonly env: Readonly<Record<string, string>>;
}

export async function readTrust(file: string): Promise<Trust> {
  const pem = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new SallyError('config.unreadable', `${file} cannot be read`, { cause, hint: 'correct --ca-cert' });
  });
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    if (blocks.length === 0) throw new Error('there is no certificate in it');
    for (const block of blocks) new X509Certificate(block);
  } catch (cause) {
    throw new SallyError('config.invalid', `${file} does not hold certificates in PEM form`, {
      cause,
      hint: 'give --ca-cert the certificate of the authority, not a key',
    });
  }
  const own = `${blocks.join('\n')}\n`;
  return {
    pem: own,
    files: [
      { path: OWN.slice(1), content: own },
      { path: BUNDLE.slice(1), content: trusted(own) },
    ],
    env: {
      ...{ NODE_EXTRA_CA_CERTS: OWN, npm_config_cafile: BUNDLE, PIP_CERT: BUNDLE, SSL_CERT_FILE: BUNDLE },
      ...{ REQUESTS_CA_BUNDLE: BUNDLE, CURL_CA_BUNDLE: BUNDLE, GIT_SSL_CAINFO: BUNDLE },
    },
  };
}

/** The authorities that everybody trusts, and one more. */
export function trusted(more = ''): string {
  return `${rootCertificates.join('\n')}\n${more}`;
}
