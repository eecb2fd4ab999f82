import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type OciServer, startOciServer } from '../../../../test/support/oci-server.ts';
import {
  anyDigest,
  BUNDLE_TYPE,
  type CosignLayer,
  createSigstore,
  type Signer,
} from '../../../../test/support/sigstore.ts';
import type { Provenance } from '../../registry/entry.ts';
import { parseImageName } from '../distribution/image-name.ts';
import { SIMPLE_SIGNING } from './cosign.ts';
import { type Verdict, verifyImage } from './verify.ts';

const sigstore = createSigstore();
const SIGNER: Signer = {
  subject: 'https://github.com/acme/notes/.github/workflows/release.yml@refs/heads/main',
  issuer: 'https://token.actions.githubusercontent.com',
  repositoryUri: 'https://github.com/acme/notes',
  repositoryRef: 'refs/heads/main',
  runnerEnvironment: 'github-hosted',
};
const ENTRY: Provenance = {
  repository_uri: 'https://github.com/acme/notes',
  signer_identity: '/.github/workflows/release.yml',
  cert_issuer: SIGNER.issuer,
};
const HOUR = 3_600_000;

describe('the verification of an image', () => {
  let folder: string;
  let env: Record<string, string>;
  let registry: OciServer;
  let digest: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sally-verify-'));
    env = { HOME: folder, SALLYPORT_TRUSTED_ROOT: join(folder, 'roots.json') };
    await writeFile(join(folder, 'roots.json'), sigstore.trustedRoot);
    registry = await startOciServer();
  });
  afterAll(async () => {
    await registry[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    digest = anyDigest();
  });

  /** Puts signatures where cosign puts them. */
  function sign(...signatures: readonly CosignLayer[]): void {
    const layers = signatures.map(({ payload, annotations }) => {
      return { mediaType: SIMPLE_SIGNING, ...registry.blob(payload), annotations };
    });
    registry.manifest({ layers }, `${digest.replace(':', '-')}.sig`);
  }

  /** Lets a bundle refer to the image. */
  function attach(bundle: unknown, subject = digest): unknown {
    const layer = { mediaType: BUNDLE_TYPE, ...registry.blob(Buffer.from(JSON.stringify(bundle))) };
    const manifest = registry.manifest({ artifactType: BUNDLE_TYPE, layers: [layer], subject: { digest: subject } });
    return { ...manifest, artifactType: BUNDLE_TYPE };
  }

  async function verify(wanted: Provenance = ENTRY, other: Record<string, string> = {}): Promise<Verdict> {
    return await verifyImage(parseImageName(`${registry.host}/acme/notes`), digest, wanted, { ...env, ...other });
  }

  const refused = (words: string) => ({ ok: false, reason: expect.stringContaining(words) as string });

  it('finds the signature that cosign left', async () => {
    sign(sigstore.cosign(digest, SIGNER));
    expect(await verify()).toEqual({ ok: true, digest, signer: SIGNER.subject });
  });

  it('finds a bundle that refers to the image, by the API and by the tag that takes its place', async () => {
    const descriptor = attach(sigstore.attest(digest, SIGNER));
    registry.refer(digest, [descriptor]);
    expect(await verify()).toMatchObject({ ok: true });
    digest = anyDigest();
    registry.manifest({ manifests: [attach(sigstore.attest(digest, SIGNER))] }, digest.replace(':', '-'));
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('goes on to the next signature when one is not the right one or cannot be read', async () => {
    const other = sigstore.cosign(digest, { ...SIGNER, repositoryUri: 'https://github.com/evil/notes' });
    sign({ payload: Buffer.from('{'), annotations: {} }, other, sigstore.cosign(digest, SIGNER));
    expect(await verify()).toMatchObject({ ok: true });
    sign(other);
    registry.refer(digest, [attach({ mediaType: 'x' }), attach(sigstore.attest(digest, SIGNER))]);
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('refuses an image that is not signed', async () => {
    expect(await verify()).toMatchObject(refused('it is not signed'));
  });

  it('refuses a good signature of another image', async () => {
    sign(sigstore.cosign(anyDigest(), SIGNER));
    expect(await verify()).toMatchObject(refused('of another image'));
    const other = anyDigest();
    registry.refer(digest, [attach(sigstore.attest(other, SIGNER)), attach(sigstore.attest(digest, SIGNER), other)]);
    expect(await verify()).toMatchObject(refused('about another image'));
  });

  it('refuses a payload that was changed after it was signed', async () => {
    const { annotations } = sigstore.cosign(anyDigest(), SIGNER);
    const { payload } = sigstore.cosign(digest, SIGNER);
    sign({ payload, annotations });
    expect(await verify()).toMatchObject(refused('none of its signatures'));
  });

  it('refuses another signer and another issuer', async () => {
    sign(sigstore.cosign(digest, { ...SIGNER, subject: SIGNER.subject.replace('release.yml', 'other.yml') }));
    expect(await verify()).toMatchObject(refused('the signer is'));
    sign(sigstore.cosign(digest, { ...SIGNER, issuer: 'https://issuer.example.test' }));
    expect(await verify()).toMatchObject(refused('who vouches for the signer is https://issuer.example.test'));
  });

  it('refuses what another authority, or another log, vouches for', async () => {
    const other = createSigstore();
    sign(other.cosign(digest, SIGNER));
    expect(await verify()).toMatchObject(refused('none of its signatures'));
    const { payload, annotations } = sigstore.cosign(digest, SIGNER);
    const theirs = other.cosign(digest, SIGNER).annotations['dev.sigstore.cosign/bundle'] ?? '';
    sign({ payload, annotations: { ...annotations, 'dev.sigstore.cosign/bundle': theirs } });
    expect(await verify()).toMatchObject(refused('none of its signatures'));
  });

  it('refuses an entry of the log that was changed', async () => {
    const { payload, annotations } = sigstore.cosign(digest, SIGNER);
    const entry = JSON.parse(annotations['dev.sigstore.cosign/bundle'] ?? '') as {
      Payload: { integratedTime: number };
    };
    entry.Payload.integratedTime += 1;
    sign({ payload, annotations: { ...annotations, 'dev.sigstore.cosign/bundle': JSON.stringify(entry) } });
    expect(await verify()).toMatchObject(refused('inclusion promise could not be verified'));
  });

  it('refuses a signature that nobody can date: certificates live for minutes', async () => {
    const { payload, annotations } = sigstore.cosign(digest, SIGNER);
    const { 'dev.sigstore.cosign/bundle': _, ...undated } = annotations;
    sign({ payload, annotations: undated });
    expect(await verify()).toMatchObject(refused('expected 1 timestamps, got 0'));
  });

  it('refuses a signature that was made when its certificate had expired, and takes an old one that was not', async () => {
    const issuedAt = new Date(Date.now() - HOUR);
    sign(sigstore.cosign(digest, SIGNER, { issuedAt }));
    expect(await verify()).toMatchObject(refused('certificate'));
    sign(sigstore.cosign(digest, SIGNER, { issuedAt, loggedAt: new Date(issuedAt.getTime() + 60_000) }));
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('refuses a signature by a bare key', async () => {
    const { payload, annotations } = sigstore.cosign(digest, SIGNER);
    const { 'dev.sigstore.cosign/certificate': _, ...bare } = annotations;
    sign({ payload, annotations: bare });
    expect(await verify()).toMatchObject(refused('signed with a key'));
  });

  it('asks for the attestation that the entry names', async () => {
    const predicateType = 'https://slsa.dev/provenance/v1';
    const wanted = { ...ENTRY, attestation: { predicate_type: predicateType, predicate: { builder: 'one' } } };
    sign(sigstore.cosign(digest, SIGNER));
    expect(await verify(wanted)).toMatchObject(refused('the attestation is not said'));
    registry.refer(digest, [attach(sigstore.attest(digest, SIGNER, { predicateType, predicate: { builder: 'one' } }))]);
    expect(await verify(wanted)).toMatchObject({ ok: true });
  });

  it('trusts each root of a file with one a line, as gh writes it', async () => {
    const file = join(folder, 'roots.jsonl');
    await writeFile(file, `${createSigstore().trustedRoot}\n${sigstore.trustedRoot}\n`);
    sign(sigstore.cosign(digest, SIGNER));
    expect(await verify(ENTRY, { SALLYPORT_TRUSTED_ROOT: file })).toMatchObject({ ok: true });
  });

  it('is refused with a reason when the trust root or the registry cannot be had', async () => {
    await writeFile(join(folder, 'empty.json'), '{}');
    const unreadable = { SALLYPORT_TRUSTED_ROOT: join(folder, 'empty.json') };
    expect(await verify(ENTRY, unreadable)).toMatchObject(refused('cannot be read as a trust root'));
    const theirs = await verify({ ...ENTRY, sigstore_url: 'tuf-repo.github.com' }, { SALLYPORT_TRUSTED_ROOT: '' });
    expect(theirs).toMatchObject({
      ...refused('trust root is not known'),
      hint: expect.stringContaining('gh attestation'),
    });
    const nowhere = parseImageName('127.0.0.1:1/acme/notes');
    expect(await verifyImage(nowhere, digest, ENTRY, env)).toMatchObject(refused('nothing listens'));
  });
});
