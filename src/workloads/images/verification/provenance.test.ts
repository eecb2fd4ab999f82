import { describe, expect, it } from 'vitest';
import { namesSigner, whyOther } from './provenance.ts';

const GITHUB = 'https://token.actions.githubusercontent.com';
const claims = {
  subject: 'https://github.com/acme/notes/.github/workflows/release.yml@refs/tags/v1.4.0',
  issuer: GITHUB,
  repositoryUri: 'https://github.com/acme/notes',
  repositoryRef: 'refs/tags/v1.4.0',
  runnerEnvironment: 'github-hosted',
};
const entry = {
  repository_uri: claims.repositoryUri,
  repository_ref: claims.repositoryRef,
  signer_identity: '/.github/workflows/release.yml',
  runner_environment: 'github-hosted',
  cert_issuer: GITHUB,
};

describe('a registry entry', () => {
  it('names a signer by a repository, or by an identity and who vouches for it', () => {
    expect(namesSigner({ repository_uri: 'https://github.com/acme/notes' })).toBe(true);
    expect(namesSigner({ signer_identity: 'ann@acme.example', cert_issuer: 'https://accounts.example' })).toBe(true);
  });

  it.each([
    [{}],
    [{ cert_issuer: GITHUB }],
    [{ runner_environment: 'github-hosted', cert_issuer: GITHUB }],
    [{ signer_identity: 'ann@acme.example' }],
    [{ signer_identity: '/.github/workflows/release.yml', cert_issuer: GITHUB }],
    [{ repository_uri: '', signer_identity: '', cert_issuer: GITHUB }],
  ])('names nobody with %j: anybody could have signed', (provenance) => {
    expect(namesSigner(provenance)).toBe(false);
  });
});

describe('a signature', () => {
  it('is the right one when every field that is given matches', () => {
    expect(whyOther(entry, { claims })).toBeUndefined();
    expect(whyOther({ repository_uri: claims.repositoryUri }, { claims })).toBeUndefined();
    expect(whyOther({ ...entry, repository_ref: '' }, { claims })).toBeUndefined();
  });

  it.each([
    ['cert_issuer', 'https://gitlab.com'],
    ['signer_identity', '/.github/workflows/other.yml'],
    ['signer_identity', '.github/workflows/release.yml'],
    ['signer_identity', '.*'],
    ['repository_uri', 'https://github.com/acme/note'],
    ['repository_uri', 'https://github.com/Acme/notes'],
    ['repository_ref', 'refs/heads/main'],
    ['runner_environment', 'self-hosted'],
  ])('is another one when %s is %s', (field, value) => {
    expect(whyOther({ ...entry, [field]: value }, { claims })).toContain(value);
  });

  it('is another one when the certificate does not say what the entry asks for', () => {
    const { repositoryUri: _, ...less } = claims;
    expect(whyOther(entry, { claims: less })).toContain('the signer');
    expect(whyOther({ repository_uri: claims.repositoryUri }, { claims: less })).toContain('not said');
    expect(whyOther(entry, { claims: {} })).toContain('not said');
  });

  it('may be named by the whole workflow, with its ref or without', () => {
    const [workflow = ''] = claims.subject.split('@');
    expect(whyOther({ ...entry, signer_identity: claims.subject }, { claims })).toBeUndefined();
    expect(whyOther({ ...entry, signer_identity: workflow }, { claims })).toBeUndefined();
  });

  it('of a repository whose name only begins the same is another one', () => {
    const evil = { ...claims, subject: 'https://github.com/acme/notes-evil/.github/workflows/release.yml@refs/x' };
    expect(whyOther(entry, { claims: evil })).toContain('the signer');
  });

  it('loses nothing of its identity where no workflow of GitHub made it', () => {
    const ann = { subject: 'ann@acme.example', issuer: 'https://accounts.example' };
    const wanted = { signer_identity: 'ann@acme.example', cert_issuer: ann.issuer };
    expect(whyOther(wanted, { claims: ann })).toBeUndefined();
    expect(whyOther({ ...wanted, signer_identity: 'ann' }, { claims: ann })).toContain('the signer');
  });

  it('must state what the entry expects, where it expects something', () => {
    const predicate = { builder: { id: 'one' }, steps: [1, 2] };
    const statement = { predicateType: 'https://slsa.dev/provenance/v1', predicate };
    const wanted = { ...entry, attestation: { predicate_type: statement.predicateType, predicate } };
    expect(whyOther(wanted, { claims, statement })).toBeUndefined();
    expect(whyOther(wanted, { claims })).toContain('not said');
    expect(whyOther(wanted, { claims, statement: { ...statement, predicateType: 'other' } })).toContain('other');
    expect(whyOther(wanted, { claims, statement: { ...statement, predicate: { steps: [2, 1] } } })).toContain(
      'something else',
    );
  });
});
