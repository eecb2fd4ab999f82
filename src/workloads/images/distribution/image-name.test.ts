import { describe, expect, it } from 'vitest';
import { digestsOf, parseImageName } from './image-name.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('the name of an image', () => {
  it.each([
    ['node', { registry: 'docker.io', path: 'library/node' }],
    ['node:24-alpine', { registry: 'docker.io', path: 'library/node', tag: '24-alpine' }],
    ['acme/notes:1', { registry: 'docker.io', path: 'acme/notes', tag: '1' }],
    ['index.docker.io/acme/notes', { registry: 'docker.io', path: 'acme/notes' }],
    ['ghcr.io/acme/notes:1.4', { registry: 'ghcr.io', path: 'acme/notes', tag: '1.4' }],
    ['127.0.0.1:5000/notes', { registry: '127.0.0.1:5000', path: 'notes' }],
    ['localhost/notes:1', { registry: 'localhost', path: 'notes', tag: '1' }],
    [`ghcr.io/acme/notes@${DIGEST}`, { registry: 'ghcr.io', path: 'acme/notes', digest: DIGEST }],
    [`localhost:5000/notes:1@${DIGEST}`, { registry: 'localhost:5000', path: 'notes', tag: '1', digest: DIGEST }],
  ])('%s is read as engines read it', (reference, expected) => {
    expect(parseImageName(reference)).toEqual({ ...expected, repository: `${expected.registry}/${expected.path}` });
  });

  it('has only the digests that belong to its own repository', () => {
    const known = [`node@${DIGEST}`, `ghcr.io/evil/node@sha256:${'b'.repeat(64)}`];
    expect(digestsOf(parseImageName('docker.io/library/node:24'), known)).toEqual([DIGEST]);
    expect(digestsOf(parseImageName('localhost/node:24'), known)).toEqual([]);
  });
});
