import { expect, it } from 'vitest';
import { challengeHeaders } from './challenge.ts';
import { metadataPath, metadataUrl } from './metadata.ts';

const FACTS = {
  metadataUrl: 'https://h.example/.well-known/oauth-protected-resource/mcp',
  dpopAlgorithms: ['ES256', 'RS256'],
};

it('who showed nothing is told where to get a token, and of no error', () => {
  expect(challengeHeaders('no', { scopes: ['openid', 'read'], dpop: false }, FACTS)).toEqual([
    `Bearer resource_metadata="${FACTS.metadataUrl}", scope="openid read"`,
  ]);
});

it('who showed something wrong is told so', () => {
  expect(challengeHeaders('it is old', { error: 'invalid_token', scopes: [], dpop: false }, FACTS)).toEqual([
    `Bearer resource_metadata="${FACTS.metadataUrl}", error="invalid_token", error_description="it is old"`,
  ]);
});

it('who speaks DPoP is told how to', () => {
  expect(challengeHeaders('no', { error: 'invalid_dpop_proof', scopes: [], dpop: true }, FACTS)).toEqual([
    `DPoP resource_metadata="${FACTS.metadataUrl}", error="invalid_dpop_proof", error_description="no", algs="ES256 RS256"`,
    `Bearer resource_metadata="${FACTS.metadataUrl}"`,
  ]);
});

it('nothing breaks out of its quotes or its line', () => {
  const [header] = challengeHeaders('a"b\\c\r\nX: y\u00e9', { error: 'invalid_token', scopes: [], dpop: false }, FACTS);
  expect(header).toContain('error_description="a?b?c??X: y?"');
});

it.each([
  ['https://h/a/mcp', 'https://h/.well-known/oauth-protected-resource/a/mcp'],
  ['https://h', 'https://h/.well-known/oauth-protected-resource'],
  ['https://h/', 'https://h/.well-known/oauth-protected-resource'],
  ['https://h:8443/mcp?x=1', 'https://h:8443/.well-known/oauth-protected-resource/mcp?x=1'],
])('RFC 9728 §3.1: the metadata of %s is at %s', (resource, url) => {
  expect(metadataUrl(resource)).toBe(url);
});

it('the path of the metadata is inserted', () => {
  expect(metadataPath('/desk/mcp')).toBe('/.well-known/oauth-protected-resource/desk/mcp');
});
