import { describe, expect, it } from 'vitest';
import type { RegistryEntry, Way } from '../entry.ts';
import { parseDocument, readDocument } from './document.ts';

const SERVER = { name: 'dev.acme/notes', description: 'Notes for MCP', version: '1.4.0' };
const NPM = { registryType: 'npm', identifier: '@acme/notes', version: '1.4.0', transport: { type: 'stdio' } };

function one(server: object): RegistryEntry {
  const { entries, problems } = readDocument({ servers: [{ ...SERVER, ...server }] }, 'the test');
  expect(problems).toEqual([]);
  return entries[0] as RegistryEntry;
}

function wayOf(server: object): Way {
  return one(server).ways[0] as Way;
}

function problemOf(server: object): string | undefined {
  return readDocument({ servers: [{ ...SERVER, ...server }] }, 'the test').problems[0]?.says;
}

describe('layouts', () => {
  const entry = { ...SERVER, packages: [NPM] };
  const wrapped = {
    server: entry,
    _meta: { 'io.modelcontextprotocol.registry/official': { status: 'active', isLatest: true } },
  };

  it.each<[string, unknown]>([
    ['a page of the API', { servers: [wrapped], metadata: { count: 1 } }],
    ['a page of plain servers', { servers: [entry], metadata: {} }],
    ['a file as ToolHive writes it', { version: '1.0.0', meta: {}, data: { servers: [entry], groups: [] } }],
    ['one server.json', entry],
    ['one wrapped server', wrapped],
    ['a list of server.json', [entry]],
  ])('reads %s', (_, document) => {
    expect(readDocument(document, 'the test')).toMatchObject({
      entries: [
        { name: 'dev.acme/notes', ways: [{ kind: 'package', server: 'npx://@acme/notes@1.4.0', transport: 'stdio' }] },
      ],
      problems: [],
    });
  });

  it('reads the older maps of ToolHive', () => {
    const document = {
      servers: {
        notes: {
          description: 'Notes',
          image: 'ghcr.io/acme/notes:1.4.0',
          transport: 'streamable-http',
          target_port: 8080,
          status: 'Deprecated',
          tier: 'Official',
          tools: ['read_note'],
          tags: ['notes'],
          args: ['--fast'],
          metadata: { stars: 12 },
          env_vars: [{ name: 'KEY', description: 'a key', required: true, secret: true }],
          permissions: { network: { outbound: { allow_host: ['api.acme.dev', '.acme.dev'], allow_port: [443] } } },
          provenance: {
            signer_identity: '/.github/workflows/release.yml',
            repository_uri: 'https://github.com/acme/notes',
          },
        },
      },
      remote_servers: {
        far: {
          description: 'Far away',
          url: 'https://mcp.acme.dev/mcp',
          transport: 'streamable-http',
          headers: [{ name: 'X-Key', required: true, secret: true }],
          oauth_config: { issuer: 'https://id.acme.dev', scopes: ['read'], callback_port: 8666 },
        },
      },
    };
    const { entries, problems } = readDocument(document, 'the test');
    expect(problems).toEqual([]);
    expect(entries).toMatchObject([
      {
        name: 'notes',
        status: 'deprecated',
        tier: 'official',
        stars: 12,
        tools: ['read_note'],
        tags: ['notes'],
        ways: [
          {
            kind: 'image',
            server: 'ghcr.io/acme/notes:1.4.0',
            transport: 'streamable-http',
            targetPort: 8080,
            args: ['--fast'],
            env: [{ name: 'KEY', required: true, secret: true }],
            permissions: { network: { outbound: { allow_host: ['api.acme.dev', '.acme.dev'], allow_port: [443] } } },
            provenance: { repository_uri: 'https://github.com/acme/notes' },
          },
        ],
      },
      {
        name: 'far',
        ways: [
          {
            kind: 'remote',
            server: 'https://mcp.acme.dev/mcp',
            headers: [{ name: 'X-Key' }],
            oauth: { issuer: 'https://id.acme.dev', callback_port: 8666 },
          },
        ],
      },
    ]);
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'servers'],
    ['an object of something else', { openapi: '3.1.0' }],
  ])('refuses %s', (_, document) => {
    expect(() => readDocument(document, 'the file x')).toThrow(
      expect.objectContaining({
        code: 'registry.invalid',
        message: 'the file x cannot be used: it has no list of servers in it',
      }),
    );
  });

  it('takes an empty registry for what it is', () => {
    expect(readDocument({ servers: [], metadata: {} }, 'the test').entries).toEqual([]);
    expect(readDocument({ data: { servers: [] } }, 'the test').entries).toEqual([]);
  });

  it('refuses what is not JSON, and more entries than anybody needs', () => {
    expect(() => parseDocument('<html>', 'the test')).toThrow('it is not JSON');
    const many = Array.from({ length: 10_001 }, (_, index) => ({ ...SERVER, name: `dev.acme/n${index}` }));
    expect(() => readDocument(many, 'the test')).toThrow('more than 10000 entries');
  });
});

describe('one entry among others', () => {
  it('is left out and named when it is wrong, and takes no other with it', () => {
    const document = {
      servers: [{ ...SERVER, packages: 'all' }, { ...SERVER, name: 'dev.acme/good' }, 7, { name: 'x y' }],
    };
    const { entries, problems } = readDocument(document, 'the test');
    expect(entries.map(({ name }) => name)).toEqual(['dev.acme/good']);
    expect(problems).toEqual([
      { at: 'servers[0]', name: 'dev.acme/notes', says: 'servers[0].packages must be a list' },
      { at: 'servers[2]', says: 'servers[2].name is missing' },
      { at: 'servers[3]', name: 'x y', says: 'servers[3].name is not a name such as dev.acme/notes' },
    ]);
  });

  it.each([
    '../../etc/passwd',
    'dev.acme/..',
    'dev..acme/x',
    '-rf',
    'a/b/c',
    'a\u001b[2J',
    'a\nb',
    '',
    'x'.repeat(201),
    '__proto__',
    'ac\u0430me/notes',
  ])('may not be called %j', (name) => {
    const { entries, problems } = readDocument({ servers: [{ ...SERVER, name }] }, 'the test');
    expect(entries).toEqual([]);
    expect(problems).toHaveLength(1);
  });

  it('cannot take the place of an earlier one of its name', () => {
    const document = {
      servers: [
        { ...SERVER, description: 'first' },
        { ...SERVER, description: 'second' },
      ],
    };
    const { entries, problems } = readDocument(document, 'the test');
    expect(entries).toMatchObject([{ description: 'first' }]);
    expect(problems).toMatchObject([{ name: 'dev.acme/notes', says: 'has the name of an earlier entry' }]);
  });

  it('gives way to the version that the registry calls the latest, and is gone when that calls it deleted', () => {
    const meta = (more: object) => ({ _meta: { 'io.modelcontextprotocol.registry/official': more } });
    const document = {
      servers: [
        { server: { ...SERVER, version: '1' }, ...meta({ isLatest: false }) },
        { server: { ...SERVER, version: '2' }, ...meta({ isLatest: true, status: 'deprecated' }) },
        { server: { ...SERVER, version: '3' }, ...meta({ isLatest: false }) },
        { server: { ...SERVER, name: 'dev.acme/gone' }, ...meta({ status: 'deleted' }) },
      ],
    };
    expect(readDocument(document, 'the test')).toMatchObject({
      entries: [{ version: '2', status: 'deprecated' }],
      problems: [],
    });
  });

  it.each<[string, object, string]>([
    ['a description that is no text', { description: 7 }, 'servers[0].description must be a text'],
    ['an endless description', { description: 'x'.repeat(8_001) }, 'has more than 8000 characters'],
    [
      'a NUL in an argument',
      { packages: [{ ...NPM, packageArguments: [{ type: 'positional', value: 'a\0b' }] }] },
      'has a NUL in it',
    ],
    [
      'a package without a name',
      { packages: [{ registryType: 'npm' }] },
      'servers[0].packages[0].identifier is missing',
    ],
    [
      'a variable that is none',
      { packages: [{ ...NPM, environmentVariables: [{ name: 'A B' }] }] },
      'cannot name a variable',
    ],
    [
      'a variable that makes a program load another',
      {
        packages: [
          { ...NPM, environmentVariables: [{ name: 'NODE_OPTIONS', value: '--import=data:text/javascript,evil' }] },
        ],
      },
      'names a variable that an entry may not fill',
    ],
    [
      'a transport of its own',
      { packages: [{ ...NPM, transport: { type: 'pigeon' } }] },
      'must be stdio, sse or streamable-http',
    ],
    [
      'a header with a line end',
      { remotes: [{ type: 'sse', url: 'https://x.dev', headers: [{ name: 'A\r\nB' }] }] },
      'cannot name a header',
    ],
    [
      'a header of the connection',
      { remotes: [{ type: 'sse', url: 'https://x.dev', headers: [{ name: 'Host' }] }] },
      'may not set',
    ],
    ['too many packages', { packages: Array.from({ length: 51 }, () => NPM) }, 'has more than 50 items'],
  ])('is refused with %s', (_, server, says) => {
    expect(problemOf(server)).toContain(says);
  });
});

describe('packages', () => {
  it('become references with their version, from npm, PyPI and image registries', () => {
    const pypi = {
      registryType: 'pypi',
      identifier: 'acme-notes',
      version: '2.0',
      registryBaseUrl: 'https://pypi.org/',
    };
    const oci = {
      registryType: 'oci',
      identifier: 'ghcr.io/acme/notes:1.4.0',
      transport: { type: 'streamable-http', url: 'http://localhost:8080/mcp' },
    };
    expect(one({ packages: [NPM, pypi, oci] }).ways).toMatchObject([
      { kind: 'package', server: 'npx://@acme/notes@1.4.0' },
      { kind: 'package', server: 'uvx://acme-notes@2.0' },
      { kind: 'image', server: 'ghcr.io/acme/notes:1.4.0', transport: 'streamable-http', targetPort: 8080 },
    ]);
  });

  it('put together what older entries name apart', () => {
    const oci = {
      registryType: 'oci',
      registryBaseUrl: 'https://docker.io',
      identifier: 'acme/notes',
      version: '1.4.0',
    };
    expect(wayOf({ packages: [oci] }).server).toBe('docker.io/acme/notes:1.4.0');
    const digest = `ghcr.io/acme/notes@sha256:${'a'.repeat(64)}`;
    expect(wayOf({ packages: [{ registryType: 'oci', identifier: digest, version: '1.4.0' }] }).server).toBe(digest);
  });

  it.each<[string, object, string]>([
    [
      'of a kind that nothing here runs',
      { registryType: 'mcpb', identifier: 'https://acme.dev/x.mcpb' },
      'packages of type mcpb cannot be run',
    ],
    [
      'of another index',
      { ...NPM, registryBaseUrl: 'https://npm.evil.dev' },
      'it lies in the index https://npm.evil.dev',
    ],
    ['with a hash that is not checked', { ...NPM, fileSha256: 'a'.repeat(64) }, 'its hash cannot be checked'],
    ['whose name is a flag', { ...NPM, identifier: '--eval=1' }, 'cannot be written as a reference'],
    ['whose version is a path', { ...NPM, version: '../../x' }, 'cannot be written as a reference'],
    [
      'with arguments for npx',
      { ...NPM, runtimeArguments: [{ type: 'named', name: '--package', value: 'evil' }] },
      'needs arguments of the tool: --package evil',
    ],
    [
      'with a mount for the engine',
      {
        registryType: 'oci',
        identifier: 'acme/notes',
        runtimeArguments: [{ type: 'named', name: '-v', value: '/:/host' }],
      },
      'needs arguments of the container engine: -v',
    ],
    [
      'that wants privileges by words for the engine',
      {
        registryType: 'oci',
        identifier: 'acme/notes',
        runtimeArguments: [{ type: 'positional', value: '--privileged' }],
      },
      'needs arguments of the container engine: --privileged',
    ],
    ['whose image is none', { registryType: 'oci', identifier: 'acme/Notes; rm' }, 'it is no image reference'],
  ])('%s are not run, and the entry says why', (_, offer, why) => {
    expect(one({ packages: [offer] })).toMatchObject({ ways: [], refused: [expect.stringContaining(why)] });
  });

  it('ignore what only answers a question of npx, and read -e of an image as a variable', () => {
    expect(wayOf({ packages: [{ ...NPM, runtimeArguments: [{ type: 'positional', value: '-y' }] }] }).server).toContain(
      'npx://',
    );
    const runtimeArguments = [
      { type: 'named', name: '-i' },
      { type: 'named', name: '-e', value: 'LEVEL=info' },
      {
        type: 'named',
        name: '-e',
        value: 'KEY={key}',
        isRequired: true,
        variables: { key: { isSecret: true, description: 'the key' } },
      },
    ];
    expect(wayOf({ packages: [{ registryType: 'oci', identifier: 'acme/notes', runtimeArguments }] }).env).toEqual([
      { name: 'LEVEL', required: false, secret: false, default: 'info' },
      { name: 'KEY', required: true, secret: true, template: '{}', description: 'the key' },
    ]);
  });

  it('pass arguments in order, and name those that only the user knows', () => {
    const packageArguments = [
      { type: 'positional', value: 'serve' },
      { type: 'named', name: '--port', default: '80' },
      { type: 'named', name: '--verbose', value: 'true', format: 'boolean' },
      { type: 'named', name: '--quiet', value: 'false', format: 'boolean' },
      { type: 'named', name: '--maybe' },
      { type: 'positional', value: '{root}/data', variables: { root: { default: '/srv' } } },
      { type: 'positional', value: '{untouched}' },
      { type: 'positional', valueHint: 'folder', isRequired: true, description: 'where notes lie' },
    ];
    expect(wayOf({ packages: [{ ...NPM, packageArguments }] })).toMatchObject({
      args: ['serve', '--port', '80', '--verbose', '/srv/data', '{untouched}'],
      missingArgs: [{ name: 'folder', description: 'where notes lie' }],
    });
  });

  it('declare variables with defaults, choices and gaps', () => {
    const environmentVariables = [
      { name: 'KEY', isRequired: true, isSecret: true, description: 'the key' },
      { name: 'LEVEL', default: 'info', choices: ['info', 'debug'] },
      { name: 'DSN', value: '{user}:{password}@db', variables: { user: {}, password: { isSecret: true } } },
    ];
    expect(wayOf({ packages: [{ ...NPM, environmentVariables }] }).env).toEqual([
      { name: 'KEY', required: true, secret: true, description: 'the key' },
      { name: 'LEVEL', required: false, secret: false, default: 'info', choices: ['info', 'debug'] },
      { name: 'DSN', required: true, secret: true, description: 'written as {user}:{password}@db' },
    ]);
  });
});

describe('servers elsewhere', () => {
  it('keep all their addresses, with transport and headers', () => {
    const remotes = [
      { type: 'streamable-http', url: 'https://{region}.acme.dev/mcp', variables: { region: { default: 'eu' } } },
      {
        type: 'sse',
        url: 'https://acme.dev/sse',
        headers: [{ name: 'Authorization', value: 'Bearer {token}', variables: { token: { isSecret: true } } }],
      },
    ];
    expect(one({ remotes }).ways).toMatchObject([
      { kind: 'remote', server: 'https://eu.acme.dev/mcp', transport: 'streamable-http' },
      {
        kind: 'remote',
        server: 'https://acme.dev/sse',
        transport: 'sse',
        headers: [{ name: 'Authorization', secret: true, required: true, template: 'Bearer {}' }],
      },
    ]);
  });

  it.each([
    ['http://acme.dev/mcp', 'it is not an https URL'],
    ['file:///etc/passwd', 'it is not an https URL'],
    ['https://me:pw@acme.dev/mcp', 'it carries a password'],
    ['https://{tenant}.acme.dev/mcp', 'run the full URL instead'],
  ])('are not called at %s', (url, why) => {
    expect(one({ remotes: [{ type: 'sse', url }] })).toMatchObject({
      ways: [],
      refused: [expect.stringContaining(why)],
    });
  });
});

describe('what a publisher adds', () => {
  const image = { registryType: 'oci', identifier: 'ghcr.io/acme/notes:1.4.0' };
  const extended = (key: string, more: object) => ({
    packages: [image],
    _meta: {
      'io.modelcontextprotocol.registry/publisher-provided': {
        'io.github.stacklok': { [key]: { status: 'Active', ...more } },
      },
    },
  });

  it('belongs to the image that it names, and to no other', () => {
    const profile = { permissions: { privileged: true }, tools: ['read_note'], tags: ['notes'] };
    expect(one(extended(image.identifier, profile))).toMatchObject({
      tools: ['read_note'],
      ways: [{ permissions: { privileged: true } }],
    });
    expect(one(extended('ghcr.io/acme/other:1', profile)).ways[0]).not.toHaveProperty('permissions');
  });

  it.each<[string, object, string]>([
    ['a host with a line end', { network: { outbound: { allow_host: ['a.dev\nacl all allow'] } } }, 'is not a host'],
    ['a host that is a pattern', { network: { outbound: { allow_host: ['*'] } } }, 'is not a host'],
    ['a port that is none', { network: { outbound: { allow_port: [70_000] } } }, 'must be a port'],
    ['a privilege that is a text', { privileged: 'yes' }, 'must be true or false'],
    ['a mount with a line end', { read: ['/a\n/b'] }, 'is not a mount'],
    ['a network that is a flag', { network: { mode: '--privileged' } }, 'is not a network'],
  ])('makes the entry wrong with %s', (_, permissions, says) => {
    expect(problemOf(extended(image.identifier, { permissions }))).toContain(says);
  });
});
