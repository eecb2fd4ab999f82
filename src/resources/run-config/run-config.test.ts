import { describe, expect, it } from 'vitest';
import { checkRunConfig, formatRunConfig, parseRunConfig, parseToolsOverride } from './index.ts';

const SMALLEST = { schema_version: 'sallyport/v1', name: 'notes', image: 'npx://notes', transport: 'stdio' };
const WEB = { ...SMALLEST, transport: 'streamable-http' };
const CALLERS = { issuer: 'https://idp.example', audience: 'me' };
const EXCHANGE = { token_url: 'https://idp.example/token' };
const REMOTE = {
  schema_version: 'sallyport/v1',
  name: 'far',
  remote_url: 'https://mcp.example.com/mcp',
  transport: 'streamable-http',
};

describe('a run configuration', () => {
  it('reads back what it writes, to the letter', () => {
    const full = {
      ...SMALLEST,
      group: 'tools',
      cmd_args: ['--read-only', ''],
      env_vars: { B: '2', A: '1' },
      secrets: ['api-key,target=API_KEY'],
      tools_override: { read: { name: 'open' } },
      tools_filter: ['open'],
      permission_profile: {
        network: { outbound: { allow_host: ['api.example.com', '.example.org'], allow_port: [443] } },
      },
      oidc_config: {
        issuer: 'https://idp.example',
        audience: 'me',
        client_id: 'me',
        client_secret_ref: 'file:/run/secret',
      },
    };
    const once = formatRunConfig(checkRunConfig(full, 'test'));
    const { config, ignored } = parseRunConfig(once, 'test');
    expect(formatRunConfig(config)).toBe(once);
    expect(ignored).toEqual([]);
    expect(Object.keys(config.env_vars)).toEqual(['B', 'A']);
  });

  it.each<[string, object, string]>([
    [
      'an unknown field',
      { ...SMALLEST, tols_filter: [] },
      'tols_filter: is not a known field (did you mean `tools_filter`?)',
    ],
    ['no server', { ...SMALLEST, image: undefined }, 'image: or remote_url is required'],
    ['two servers', { ...SMALLEST, remote_url: 'https://x.example' }, 'and not both'],
    ['a name that leads elsewhere', { ...SMALLEST, name: '../x' }, 'name: must be letters'],
    ['a secret by value', { ...SMALLEST, secrets: ['hunter2'] }, 'secrets[0]: must be NAME,target=VARIABLE'],
    [
      'a client secret by value',
      {
        ...SMALLEST,
        oidc_config: { issuer: 'https://x.example', audience: 'x', client_id: 'x', client_secret_ref: 'hunter2' },
      },
      'client_secret_ref: must be env:VARIABLE, file:/PATH or secret:NAME',
    ],
    [
      'an exchange without callers who show a token',
      { ...WEB, token_exchange_config: EXCHANGE },
      'token_exchange_config: needs oidc_config',
    ],
    [
      'an exchange for a server without headers',
      { ...SMALLEST, oidc_config: CALLERS, token_exchange_config: EXCHANGE },
      'token_exchange_config: needs a server that speaks HTTP',
    ],
    [
      'an exchange whose client secret is there by value',
      { ...WEB, oidc_config: CALLERS, token_exchange_config: { ...EXCHANGE, client_id: 'x', client_secret_ref: 'x' } },
      'token_exchange_config.client_secret_ref: must be env:VARIABLE',
    ],
    [
      'an exchange that shows tokens to the network',
      { ...WEB, oidc_config: CALLERS, token_exchange_config: { token_url: 'http://idp.example/token' } },
      'token_exchange_config.token_url: must be an https URL',
    ],
    [
      'an exchanged token in a header of the protocol',
      { ...WEB, oidc_config: CALLERS, token_exchange_config: { ...EXCHANGE, external_token_header_name: 'Mcp-Name' } },
      'external_token_header_name: must not be a header of MCP',
    ],
    [
      'an exchanged token beside a bearer token',
      {
        ...REMOTE,
        oidc_config: CALLERS,
        token_exchange_config: EXCHANGE,
        remote_auth_config: { bearer_token_ref: 'file:/run/token' },
      },
      'token_exchange_config: fills the header Authorization, and so does the bearer token',
    ],
    [
      'an exchanged token in a header that has a value',
      {
        ...WEB,
        image: undefined,
        remote_url: 'https://x.example',
        oidc_config: CALLERS,
        token_exchange_config: EXCHANGE,
        header_forward: { add_headers_from_secret: { authorization: 'key' } },
      },
      'fills the header Authorization, and so does header_forward',
    ],
    ['a relative path', { ...SMALLEST, env_file: '.env' }, 'env_file: must be an absolute path'],
    [
      'a remote server over stdio',
      { ...SMALLEST, image: undefined, remote_url: 'https://x.example' },
      'transport: of a remote',
    ],
    [
      'a profile that would write into a proxy configuration',
      { ...SMALLEST, permission_profile: { network: { outbound: { allow_host: ['a\nhttp_access allow all'] } } } },
      'allow_host[0]',
    ],
    ['headers for a server that is not remote', { ...SMALLEST, header_forward: {} }, 'header_forward: is for remote'],
    [
      'a token for a server that is not remote',
      { ...SMALLEST, remote_auth_config: { bearer_token_ref: 'secret:x' } },
      'remote_auth_config: is for remote',
    ],
    [
      'a token by value',
      { ...REMOTE, remote_auth_config: { bearer_token_ref: 'hunter2' } },
      'bearer_token_ref: must be env:VARIABLE, file:/PATH or secret:NAME',
    ],
    [
      'one header twice',
      { ...REMOTE, header_forward: { add_plaintext_headers: { 'X-A': '1' }, add_headers_from_secret: { 'x-a': 's' } } },
      'header_forward: names one header twice',
    ],
    [
      'two ways to log in',
      {
        ...REMOTE,
        header_forward: { add_headers_from_secret: { AUTHORIZATION: 's' } },
        remote_auth_config: { bearer_token_ref: 'secret:x' },
      },
      'header_forward: must not set Authorization beside a bearer token',
    ],
    [
      'a header that frames the message',
      { ...REMOTE, header_forward: { add_plaintext_headers: { host: 'x' } } },
      'must not be a header that frames',
    ],
    [
      'a header of the protocol',
      { ...REMOTE, header_forward: { add_plaintext_headers: { 'mcp-session-id': 'x' } } },
      'must not be a header of MCP',
    ],
    [
      'a secret name that could become two references',
      { ...REMOTE, header_forward: { add_headers_from_secret: { 'X-A': 'a,target=B' } } },
      'must be the name of a secret',
    ],
    ['another version', { ...SMALLEST, schema_version: 'sallyport/v9' }, 'schema_version: is "sallyport/v9"'],
  ])('with %s is refused', (_, value, says) => {
    expect(() => parseRunConfig(JSON.stringify(value), 'notes.json')).toThrow(says);
  });

  it('never repeats a value in an error: it may be a secret', () => {
    for (const value of [
      { ...SMALLEST, secrets: ['hunter2'] },
      { ...SMALLEST, env_vars: { 'a b': 'hunter2' } },
      { ...SMALLEST, env_vars: 'hunter2' },
    ])
      expect(() => parseRunConfig(JSON.stringify(value), 'notes.json')).toThrow(expect.not.stringContaining('hunter2'));
  });
});

describe('a file of ToolHive', () => {
  const OIDC = { Issuer: 'https://idp.example', Audience: 'me' };
  const EXPORTED = {
    schema_version: 'v0.1.0',
    image: 'ghcr.io/acme/notes:1.4.0',
    name: 'notes',
    base_name: 'notes',
    container_name: 'notes',
    transport: 'streamable-http',
    proxy_mode: 'streamable-http',
    host: '127.0.0.1',
    port: 20111,
    target_host: '127.0.0.1',
    target_port: 8080,
    group: 'default',
    permission_profile: { network: { outbound: { allow_host: ['api.notes.example'], allow_port: [443] } } },
    env_vars: { MCP_TRANSPORT: 'streamable-http', MCP_PORT: '8080', FASTMCP_PORT: '8080', LEVEL: 'debug' },
    secrets: ['notes-key,target=NOTES_KEY'],
    isolate_network: true,
    container_labels: { toolhive: 'true', 'toolhive-port': '20111', team: 'a' },
    ignore_config: { LoadGlobal: true, PrintOverlays: false },
    strict_protocol_validation: false,
    authz_config: null,
    validating_webhooks: [],
  };

  it('is understood', () => {
    const { config, ignored } = parseRunConfig(JSON.stringify(EXPORTED), 'notes.json');
    expect(ignored).toEqual([]);
    expect(config).toMatchObject({
      schema_version: 'sallyport/v1',
      image: 'ghcr.io/acme/notes:1.4.0',
      port: 20111,
      target_port: 8080,
      env_vars: { LEVEL: 'debug' },
      container_labels: { team: 'a' },
      isolate_network: true,
      ignore_config: { load_global: true, print_overlays: false },
      permission_profile: { network: { outbound: { allow_host: ['api.notes.example'] } } },
    });
    expect(config.env_vars).toEqual({ LEVEL: 'debug' });
  });

  it('whose OIDC settings are capitalised keeps them', () => {
    const oidc = {
      Issuer: 'https://idp.example',
      Audience: 'me',
      JWKSURL: '',
      AllowPrivateIP: true,
      Scopes: ['openid'],
      ClientSecret: '',
    };
    const { config } = parseRunConfig(
      JSON.stringify({ ...EXPORTED, oidc_config: oidc, thv_ca_bundle: '/etc/ca.pem' }),
      'x',
    );
    expect(config).toMatchObject({
      oidc_config: { issuer: 'https://idp.example', audience: 'me', jwks_allow_private_ip: true, scopes: ['openid'] },
      ca_bundle: '/etc/ca.pem',
    });
  });

  it('with a token exchange is read with our names', () => {
    const exchange = {
      token_url: 'https://idp.example/token',
      client_id: 'gate',
      client_secret: '',
      client_secret_ref: 'file:/run/secrets/exchange',
      audience: 'notes',
      scopes: ['read'],
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      header_strategy: 'custom',
      external_token_header_name: 'X-Upstream',
    };
    const exported = { ...EXPORTED, oidc_config: OIDC };
    const read = (more: object) =>
      parseRunConfig(JSON.stringify({ ...exported, token_exchange_config: { ...exchange, ...more } }), 'x').config
        .token_exchange_config;
    const { client_secret: _, header_strategy: __, ...same } = exchange;
    expect(read({})).toEqual({ ...same, subject_token_type: 'id_token' });
    expect(read({ header_strategy: 'replace', subject_token_type: '' })).toEqual(
      expect.not.objectContaining({ external_token_header_name: expect.anything() }),
    );
  });

  describe('with a bearer token for a remote server', () => {
    const remote = { ...EXPORTED, image: REMOTE.remote_url, remote_url: REMOTE.remote_url, permission_profile: null };
    const read = (auth: object) =>
      parseRunConfig(JSON.stringify({ ...remote, isolate_network: false, remote_auth_config: auth }), 'far.json')
        .config;
    const manners = { timeout: 30_000_000_000, callback_port: 8666, use_pkce: true, scopes: null };

    it('keeps the reference, or the file', () => {
      expect(read({ ...manners, bearer_token: 'BEARER_TOKEN_far,target=bearer_token' })).toMatchObject({
        remote_auth_config: { bearer_token_ref: 'secret:BEARER_TOKEN_far' },
      });
      expect(read({ ...manners, bearer_token_file: '/run/token' })).toMatchObject({
        remote_auth_config: { bearer_token_ref: 'file:/run/token' },
      });
      expect(read(manners)).not.toHaveProperty('remote_auth_config');
    });

    it('never takes one in plain text, nor a login that it cannot do', () => {
      expect(() => read({ bearer_token: 'hunter2' })).toThrow('remote_auth_config.bearer_token: is a secret');
      expect(() => read({ bearer_token: 'hunter2' })).toThrow(expect.not.stringContaining('hunter2'));
      expect(() => read({ ...manners, issuer: 'https://idp.example' })).toThrow('remote_auth_config.issuer: cannot be');
    });
  });

  it('exports to the same text when it is imported again', () => {
    const first = formatRunConfig(parseRunConfig(JSON.stringify(EXPORTED), 'notes.json').config);
    expect(formatRunConfig(parseRunConfig(first, 'notes.json').config)).toBe(first);
  });

  it('with fields that mean nothing here names them', () => {
    const { ignored } = parseRunConfig(
      JSON.stringify({ ...EXPORTED, debug: true, telemetry_config: { endpoint: 'x' }, session_ttl: '2h' }),
      'x',
    );
    expect(ignored).toEqual(['debug', 'telemetry_config', 'session_ttl']);
  });

  it.each<[string, object]>([
    ['authz_config', { authz_config: { version: '1.0' } }],
    ['audit_config', { audit_config: { component: 'x' } }],
    ['mutating_webhooks', { mutating_webhooks: [{ name: 'x' }] }],
    ['remote_auth_config', { remote_auth_config: { client_id: 'x' } }],
    ['token_exchange_config: needs oidc_config', { token_exchange_config: { token_url: 'https://x.example' } }],
    [
      'token_exchange_config.client_secret',
      { oidc_config: OIDC, token_exchange_config: { token_url: 'https://x.example', client_secret: 'hunter2' } },
    ],
    ['middleware_configs[0]', { middleware_configs: [{ type: 'tokenexchange', parameters: {} }] }],
    ['middleware_configs[0]', { middleware_configs: [{ type: 'authorization' }] }],
    [
      'middleware_configs[0]',
      { middleware_configs: [{ type: 'auth', parameters: { oidc_config: { Issuer: 'https://idp.example' } } }] },
    ],
    ['middleware_configs[0]', { middleware_configs: [{ type: 'tool-filter', parameters: { filter: ['a'] } }] }],
    [
      'oidc_config.ClientSecret',
      { oidc_config: { Issuer: 'https://x.example', Audience: 'a', ClientSecret: 'hunter2' } },
    ],
    ['image', { image: 'toolhivelocal/npx-notes:20260101' }],
  ])('that protects with %s is not run without it', (field, more) => {
    const text = JSON.stringify({ ...EXPORTED, ...more });
    expect(() => parseRunConfig(text, 'notes.json')).toThrow(field);
    expect(() => parseRunConfig(text, 'notes.json')).toThrow(expect.not.stringContaining('hunter2'));
  });
});

describe('a file of tool overrides', () => {
  it('gives names and descriptions', () => {
    const text = '{"toolsOverride":{"read":{"name":"open"},"constructor":{"description":"Build"}}}';
    expect(parseToolsOverride(text, 'x')).toEqual({ read: { name: 'open' }, constructor: { description: 'Build' } });
  });

  it.each([
    ['not JSON', '{'],
    ['toolsOverride: is required', '{"toolsOverride":null}'],
    ['extra: is not a known field', '{"toolsOverride":{"a":{"name":"b"}},"extra":1}'],
    ['must be 1 to 64 letters', '{"toolsOverride":{"a":{"name":"b c"}}}'],
    ['two tools the name b', '{"toolsOverride":{"a":{"name":"b"},"b":{"description":"x"}}}'],
  ])('is refused: %s', (says, text) => {
    expect(() => parseToolsOverride(text, 'x')).toThrow(says);
  });
});
