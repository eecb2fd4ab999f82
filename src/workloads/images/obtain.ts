import { SallyError } from '../../base/index.ts';
import type { Provenance } from '../registry/entry.ts';
import { openRepository } from './distribution/client.ts';
import { digestsOf, type ImageName, parseImageName } from './distribution/image-name.ts';
import { ensureImage, type ImageParts, inspectImage, moves } from './pull.ts';
import { namesSigner } from './verification/provenance.ts';
import type { Verdict } from './verification/verify.ts';

/** `enabled` runs only what is proven; `warn` says what is not, and goes on. */
export type Verification = 'warn' | 'enabled' | 'disabled';

export interface ImageOrder {
  readonly reference: string;
  /** Found out earlier: then the tag means nothing any more. */
  readonly digest?: string | undefined;
  readonly verification: Verification;
  /** Who must have signed it, as the registry says. */
  readonly provenance?: Provenance | undefined;
}

export interface ObtainedImage {
  /** What the engine starts. */
  readonly id: string;
  /** Of its manifest. An image that was made here and is in no registry has none. */
  readonly digest?: string;
}

/**
 * The image of a server. What a tag means is found out once, and that digest is what is verified, fetched and run; where nothing is
 * verified the engine finds it out itself, at the moment it fetches.
 */
export async function obtainImage(order: ImageOrder, parts: ImageParts): Promise<ObtainedImage> {
  const named = parseImageName(order.reference);
  const digest = named.digest ?? order.digest;
  const name = digest === undefined ? named : { ...named, digest };
  const wanted = digest === undefined ? order.reference : pinned(name, digest);
  const reference = order.verification === 'disabled' ? wanted : await verified(wanted, name, order, parts);
  const id = await ensureImage(reference, parts);
  if (reference !== wanted) await keepName(id, name, parts);
  const [found] = digestsOf(name, (await inspectImage(reference, parts.engine))?.repoDigests ?? []);
  const known = parseImageName(reference).digest ?? found;
  return { id, ...(known === undefined ? {} : { digest: known }) };
}

/** The reference to fetch: by digest when that was looked at, as it was given when it goes on unverified. */
async function verified(wanted: string, name: ImageName, order: ImageOrder, parts: ImageParts): Promise<string> {
  const verdict = await judge(wanted, name, order, parts);
  if (verdict.ok) {
    parts.progress(`${order.reference} is signed by ${verdict.signer}`);
    return pinned(name, verdict.digest);
  }
  const { reason, hint } = verdict;
  if (order.verification === 'warn') {
    parts.progress(`warning: ${order.reference} is not verified: ${reason}`);
    return wanted;
  }
  throw new SallyError('workload.image_unverified', `${order.reference} is not verified: ${reason}`, {
    hint: hint ?? 'ask its publisher, or decide to run it all the same with --image-verification warn',
  });
}

async function judge(wanted: string, name: ImageName, order: ImageOrder, parts: ImageParts): Promise<Verdict> {
  const { provenance } = order;
  if (!provenance) return no('nothing says who must have signed it', NAME_IT);
  if (!namesSigner(provenance)) return no('its registry entry does not say who must have signed it', NAME_IT);
  const digests = await candidates(wanted, name, parts);
  if ('ok' in digests) return digests;
  const { verifyImage } = await import('./verification/verify.ts');
  let verdict: Verdict = no('it was made here and is in no registry');
  for (const digest of digests) {
    verdict = await verifyImage(name, digest, provenance, parts.env);
    if (verdict.ok) break;
  }
  return verdict;
}

/** The digests that the reference may mean here: its own, those of the image that is here, or what the registry says now. */
async function candidates(wanted: string, name: ImageName, parts: ImageParts): Promise<readonly string[] | Refused> {
  if (name.digest !== undefined) return [name.digest];
  const local = await inspectImage(wanted, parts.engine);
  if (local && !moves(wanted)) return digestsOf(name, local.repoDigests);
  try {
    await using repository = openRepository(name, parts.env);
    const found = await repository.manifest(name.tag ?? 'latest');
    return found ? [found.digest] : no('its registry does not have it', 'check its name and tag');
  } catch (error) {
    if (!(error instanceof SallyError)) throw error;
    return no(error.message, error.hint);
  }
}

const NAME_IT =
  'run it by its name in a registry that states its provenance, or decide to run it all the same with --image-verification warn';

type Refused = Exclude<Verdict, { readonly ok: true }>;

function no(reason: string, hint?: string): Refused {
  return { ok: false, reason, ...(hint === undefined ? {} : { hint }) };
}

function pinned({ repository }: ImageName, digest: string): string {
  return `${repository}@${digest}`;
}

/** Fetched by its digest, an image has no name that people know. */
async function keepName(id: string, { repository, tag = 'latest' }: ImageName, { engine }: ImageParts): Promise<void> {
  await engine.api.getImage(id).tag({ repo: repository, tag });
}
