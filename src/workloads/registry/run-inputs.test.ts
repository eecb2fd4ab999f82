import { expect, it } from 'vitest';
import type { LocalWay, RegistryEntry, RemoteWay, Way } from './entry.ts';
import { exampleLine } from './example.ts';
import { argumentsFor, toRunInputs } from './run-inputs.ts';

const PACKAGE: LocalWay = {
  kind: 'package',
  server: 'npx://@acme/notes@1.0.0',
  transport: 'stdio',
  args: ['a'],
  missingArgs: [],
  env: [],
};
const IMAGE: LocalWay = {
  ...PACKAGE,
  kind: 'image',
  server: 'ghcr.io/acme/notes:1',
  transport: 'streamable-http',
  targetPort: 8080,
};
const REMOTE: RemoteWay = {
  kind: 'remote',
  server: 'https://acme.dev/sse',
  transport: 'sse',
  headers: [{ name: 'X', required: false, secret: true }],
  env: [],
};

function entry(ways: readonly Way[], more: Partial<RegistryEntry> = {}): RegistryEntry {
  return {
    name: 'dev.acme/notes',
    description: '',
    status: 'active',
    tags: [],
    tools: ['t'],
    ways,
    refused: [],
    ...more,
  };
}
const serverOf = (ways: readonly Way[], options: Parameters<typeof toRunInputs>[2]): string =>
  toRunInputs(entry(ways), 'r', options).server;

it('prefers a container where they run, then a package, then the server elsewhere', () => {
  expect(serverOf([REMOTE, PACKAGE, IMAGE], { containers: true })).toBe(IMAGE.server);
  expect(serverOf([REMOTE, PACKAGE, IMAGE], { containers: false })).toBe(PACKAGE.server);
  expect(serverOf([REMOTE, IMAGE], { containers: false })).toBe(REMOTE.server);
});

it('honours the transport that was asked for, where a way speaks it', () => {
  expect(serverOf([PACKAGE, IMAGE, REMOTE], { containers: true, transport: 'sse' })).toBe(REMOTE.server);
  expect(serverOf([PACKAGE], { containers: true, transport: 'sse' })).toBe(PACKAGE.server);
});

it('says why nothing runs', () => {
  expect(() => serverOf([IMAGE], { containers: false })).toThrow(
    expect.objectContaining({ code: 'registry.unknown_server', hint: 'start Docker or Podman' }),
  );
  expect(() =>
    toRunInputs(entry([], { refused: ['x.mcpb: packages of type mcpb cannot be run'] }), 'r', { containers: true }),
  ).toThrow('type mcpb');
});

it('carries everything that run can use', () => {
  expect(toRunInputs(entry([IMAGE]), 'the registry', { containers: true })).toEqual({
    name: 'dev.acme/notes',
    registry: 'the registry',
    kind: 'image',
    server: IMAGE.server,
    transport: 'streamable-http',
    targetPort: 8080,
    args: ['a'],
    missingArgs: [],
    env: [],
    headers: [],
    tools: ['t'],
    notices: [],
    demands: [],
  });
  expect(toRunInputs(entry([REMOTE]), 'r', { containers: true }).headers).toEqual(REMOTE.headers);
});

it('speaks of rights that nobody should get without being asked', () => {
  const permissions = { privileged: true, read: ['/etc'], write: ['/srv:/data'], network: { mode: 'host' } };
  expect(toRunInputs(entry([{ ...IMAGE, permissions }]), 'r', { containers: true }).demands).toEqual([
    'a privileged container, which can do everything on this machine',
    'to read /etc',
    'to read and write /srv:/data',
    'the network of this machine itself',
  ]);
});

it.each([
  ['npx://notes', true],
  ['npx://@acme/notes', true],
  ['uvx://notes@1.0', false],
  ['npx://@acme/notes@1.0.0', false],
])('says whether %s runs whatever is newest', (server, told) => {
  const { notices } = toRunInputs(entry([{ ...PACKAGE, server }]), 'r', { containers: false });
  expect(notices.length > 0).toBe(told);
});

it('replaces the arguments of the entry by those of the user, and says which are needed', () => {
  const inputs = toRunInputs(
    entry([{ ...PACKAGE, missingArgs: [{ name: 'folder', description: 'where\u001b notes lie' }] }]),
    'r',
    { containers: false },
  );
  expect(argumentsFor(inputs, ['mine'])).toEqual(['mine']);
  expect(() => argumentsFor(inputs, [])).toThrow(
    expect.objectContaining({
      code: 'registry.variable_missing',
      message: 'dev.acme/notes needs arguments: folder (where\\u001b notes lie)',
      hint: expect.stringContaining('sally run dev.acme/notes -- a FOLDER'),
    }),
  );
  expect(argumentsFor({ ...inputs, missingArgs: [] }, [])).toEqual(['a']);
});

it('gives a line to copy in which nothing of a stranger is more than a word', () => {
  const needs = {
    env: [
      { name: 'KEY', required: true, secret: true },
      { name: 'REGION', required: true, secret: false },
      { name: 'LEVEL', required: false, secret: false },
    ],
    args: ['--mode=fast', "it's $(id); `id`", 'line\nend'],
    missingArgs: [{ name: '$(reboot) folder' }, { name: '\u001b' }],
  };
  expect(exampleLine('dev.acme/notes', needs)).toBe(
    "sally run --secret NAME,target=KEY -e REGION=VALUE dev.acme/notes -- --mode=fast 'it'\\''s $(id); `id`' 'line\\u000aend' REBOOT-FOLDER VALUE",
  );
});
