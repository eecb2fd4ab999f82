import { describe, expect, it } from 'vitest';
import { parseClientMetadata } from './metadata.ts';
import { redirectSchemes } from './redirect-uri.ts';

const rules = { redirects: { schemes: redirectSchemes([]) }, scopes: new Set(['openid', 'tools']) };
const REDIRECT = 'http://127.0.0.1:1234/callback';
const parse = (metadata: object) => parseClientMetadata({ redirect_uris: [REDIRECT], ...metadata }, rules);

describe('what a client may say about itself', () => {
  it('little is needed: the rest is the code flow of a public client', () => {
    expect(parse({})).toEqual({
      redirect_uris: [REDIRECT],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    });
  });

  it('takes over name and scopes, and nothing that it does not know', () => {
    const metadata = parse({
      client_name: 'Töst 🚀',
      scope: 'openid tools openid',
      client_secret: 'mine',
      client_id: 'mine',
      jwks_uri: 'http://169.254.169.254/',
      sector_identifier_uri: 'http://169.254.169.254/',
      logo_uri: 'https://evil.example/',
      id_token_signed_response_alg: 'none',
      software_id: 'x',
      dpop_bound_access_tokens: true,
    });
    expect(metadata).toEqual({
      ...parse({}),
      client_name: 'Töst 🚀',
      scope: 'openid tools offline_access',
      dpop_bound_access_tokens: true,
    });
  });

  it.each([
    [[REDIRECT], 'native'],
    [['https://app.example/cb'], 'web'],
    [['https://localhost/cb'], 'web'],
    [['https://app.example/cb', 'http://localhost/cb'], 'native'],
    [['https://app.example/cb', 'cursor://cb'], 'native'],
  ])('the kind of the application follows from %j, not from what it says', (uris, type) => {
    for (const said of ['web', 'native', undefined]) {
      expect(parse({ redirect_uris: uris, application_type: said }).application_type).toBe(type);
    }
  });

  it('adds offline_access for a client that may refresh, and for no other', () => {
    expect(parse({ scope: 'tools' }).scope).toBe('tools offline_access');
    expect(parse({ scope: 'tools', grant_types: ['authorization_code'] }).scope).toBe('tools');
  });

  it('leaves out grants that there are none of, as VS Code asks for', () => {
    const types = ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'];
    expect(parse({ grant_types: types }).grant_types).toEqual(['authorization_code']);
  });

  it.each([
    [{ redirect_uris: undefined }, 'invalid_redirect_uri', /at least one/],
    [{ redirect_uris: [] }, 'invalid_redirect_uri', /at least one/],
    [{ redirect_uris: REDIRECT }, 'invalid_redirect_uri', /at least one/],
    [{ redirect_uris: Array(11).fill(REDIRECT) }, 'invalid_redirect_uri', /more than 10/],
    [{ redirect_uris: [REDIRECT, 'javascript:alert(1)'] }, 'invalid_redirect_uri', /redirect_uris\[1\]/],
    [{ redirect_uris: ['https://localhost/cb', REDIRECT] }, 'invalid_redirect_uri', /mix/],
    [{ client_name: 'x'.repeat(257) }, 'invalid_client_metadata', /256/],
    [{ client_name: 7 }, 'invalid_client_metadata', /client_name/],
    [{ client_name: 'Claude\u202e' }, 'invalid_client_metadata', /can be seen/],
    [{ client_name: 'Cla\u200bude' }, 'invalid_client_metadata', /can be seen/],
    [{ client_name: 'a\nb' }, 'invalid_client_metadata', /can be seen/],
    [{ token_endpoint_auth_method: 'client_secret_basic' }, 'invalid_client_metadata', /must be none/],
    [{ token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata', /must be none/],
    [{ grant_types: ['refresh_token'] }, 'invalid_client_metadata', /authorization_code/],
    [{ grant_types: 'authorization_code' }, 'invalid_client_metadata', /authorization_code/],
    [{ response_types: ['token'] }, 'invalid_client_metadata', /code/],
    [{ scope: 'openid admin' }, 'invalid_client_metadata', /openid, tools/],
    [{ scope: 7 }, 'invalid_client_metadata', /text/],
  ])('refuses %j', (metadata, code, description) => {
    expect(() => parse(metadata)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(description) }),
    );
  });

  it.each([[null], ['text'], [[{}]], [7]])('refuses %j', (body) => {
    expect(() => parseClientMetadata(body, rules)).toThrow(/JSON object/);
  });
});
