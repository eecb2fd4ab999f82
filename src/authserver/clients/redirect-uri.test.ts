import { describe, expect, it } from 'vitest';
import { redirectSchemes, redirectUriProblem } from './redirect-uri.ts';

const native = { schemes: redirectSchemes(['myapp', 'javascript']) };
const web = { schemes: 'none' } as const;

describe('where a code may be sent', () => {
  it.each([
    'https://app.example/callback',
    'https://app.example:8443/callback?tenant=1',
    'https://localhost:3000/callback',
    'http://localhost/callback',
    'http://localhost:1234/callback',
    'http://127.0.0.1:33418/',
    'http://[::1]:80/cb',
  ])('%s is fine for everybody', (uri) => {
    expect(redirectUriProblem(uri, native)).toBeUndefined();
    expect(redirectUriProblem(uri, web)).toBeUndefined();
  });

  it.each([
    'cursor://anysphere.cursor-retrieval/oauth/callback',
    'vscode://vscode.github-authentication/did-authenticate',
    'com.example.app:/callback',
    'com.example.app://callback',
    'myapp://callback',
  ])('%s is fine for an app, and not for a client that only a document vouches for', (uri) => {
    expect(redirectUriProblem(uri, native)).toBeUndefined();
    expect(redirectUriProblem(uri, web)).toMatch(/must use https/);
  });

  it.each([
    ['javascript:alert(1)', /scheme javascript/],
    ['JavaScript:alert(1)', /scheme javascript/],
    ['data:text/html,x', /scheme data/],
    ['vbscript:x', /scheme vbscript/],
    ['file:///etc/passwd', /scheme file/],
    ['blob:https://app.example/1', /scheme blob/],
    ['about:blank', /scheme about/],
    ['view-source:https://app.example', /scheme view-source/],
    ['ftp://app.example/', /scheme ftp/],
    ['wss://app.example/', /scheme wss/],
    ['mailto:someone', /scheme mailto/],
    ['intent://x', /scheme intent/],
    ['unknownapp://callback', /which is not allowed here/],
    ['http://app.example/callback', /http only for localhost/],
    ['http://localhost.evil.example/', /http only for localhost/],
    ['http://127.0.0.1.evil.example/', /http only for localhost/],
    ['http://0.0.0.0/', /http only for localhost/],
    ['https://app.example/callback#', /fragment/],
    ['https://app.example/#x', /fragment/],
    ['https://user@app.example/', /user name/],
    ['https://app.example@evil.example/', /user name/],
    ['https://a:b@app.example/', /user name/],
    ['http://localhost@evil.example/', /user name/],
    ['com.example.app://user:pw@host/', /user name/],
    ['https://app.example\\@evil.example/', /characters of a URI/],
    ['https:\\\\evil.example', /characters of a URI/],
    ['https://app.example/\n', /characters of a URI/],
    ['https://app.example/\tx', /characters of a URI/],
    ['java\nscript:alert(1)', /characters of a URI/],
    [' https://app.example/', /characters of a URI/],
    ['https://app.example/<script>', /characters of a URI/],
    ['https://аpp.example/', /characters of a URI/],
    ['https:app.example/callback', /two slashes/],
    ['https:/app.example/callback', /two slashes/],
    ['https:///app.example/callback', /two slashes/],
    ['//app.example/callback', /absolute/],
    ['/callback', /absolute/],
    ['callback', /absolute/],
    ['', /text/],
    [`https://app.example/${'x'.repeat(2048)}`, /longer than 2048/],
    [undefined, /text/],
    [['https://app.example/'], /text/],
  ])('refuses %j', (uri, problem) => {
    expect(redirectUriProblem(uri, native)).toMatch(problem);
    expect(redirectUriProblem(uri, web)).toBeDefined();
  });
});
