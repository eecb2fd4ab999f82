import { TrustedRoot } from '@sigstore/protobuf-specs';
import { getTrustedRoot } from '@sigstore/tuf';
import { toTrustMaterial, Verifier } from '@sigstore/verify';
import { readBounded } from '../../../base/files/index.ts';
import { cacheFolder, SallyError } from '../../../base/index.ts';
import type { Environment } from '../../launch.ts';

/** Names a file with trust roots of another sigstore than the public one: one as JSON, or several, one a line. */
const OWN_ROOTS = 'SALLYPORT_TRUSTED_ROOT';
const PUBLIC = 'tuf-repo-cdn.sigstore.dev';
const MOST_BYTES = 4 * 1024 * 1024;
const ANSWER_WITHIN = 5_000;

/** Whoever can say that a signature is good. One of them is enough. */
export async function openVerifiers(sigstoreUrl: string | undefined, env: Environment): Promise<readonly Verifier[]> {
  const file = env[OWN_ROOTS];
  if (file) return (await readRoots(file)).map(verifierFor);
  const host = sigstoreUrl?.replace(/^https:\/\//, '').replace(/\/$/, '') || PUBLIC;
  if (host !== PUBLIC) {
    throw new SallyError('workload.image_unverified', `the signature is from ${host}, whose trust root is not known`, {
      hint: `name a file with that trust root in ${OWN_ROOTS}; gh attestation trusted-root writes the one of GitHub`,
    });
  }
  return [verifierFor(await publicRoot(env))];
}

/** What a trust root names is demanded: an entry in its log, a certificate in its other log. A time that somebody vouches for always is. */
function verifierFor(root: TrustedRoot): Verifier {
  return new Verifier(toTrustMaterial(root), {
    tlogThreshold: Math.min(root.tlogs.length, 1),
    ctlogThreshold: Math.min(root.ctlogs.length, 1),
    timestampThreshold: 1,
  });
}

/** By The Update Framework: the first root comes with the library, each next one is signed by the one before. */
async function publicRoot(env: Environment): Promise<TrustedRoot> {
  try {
    return await getTrustedRoot({
      mirrorURL: `https://${PUBLIC}`,
      cachePath: `${cacheFolder(env)}/sigstore`,
      // What is here counts until it expires, which is a matter of days; then it is fetched anew.
      forceCache: true,
      retry: 1,
      timeout: ANSWER_WITHIN,
    });
  } catch (cause) {
    throw new SallyError('workload.image_unverified', `the trust root of sigstore cannot be fetched from ${PUBLIC}`, {
      cause,
      hint: `check the network, or name a file with a trust root in ${OWN_ROOTS}`,
    });
  }
}

async function readRoots(file: string): Promise<readonly TrustedRoot[]> {
  try {
    const text = await readBounded(file, MOST_BYTES);
    const roots = documentsOf(String(text ?? '')).map((document) => TrustedRoot.fromJSON(document));
    if (roots.length === 0 || roots.some(({ certificateAuthorities }) => certificateAuthorities.length === 0))
      throw new Error('it names no authority');
    return roots;
  } catch (cause) {
    throw new SallyError('config.invalid', `${file} cannot be read as a trust root of sigstore`, {
      cause,
      hint: `correct ${OWN_ROOTS}: a trusted_root.json, or what gh attestation trusted-root writes`,
    });
  }
}

function documentsOf(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as unknown);
  }
}
