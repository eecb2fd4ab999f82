import { expect, it } from 'vitest';
import { ServerImage } from './image.ts';
import { type PackageReference, parsePackageReference } from './package-reference.ts';

it.each<[string, PackageReference]>([
  ['npx://cowsay', { scheme: 'npx', package: 'cowsay' }],
  ['npx://@acme/notes-mcp@1.2.3-rc.1', { scheme: 'npx', package: '@acme/notes-mcp', version: '1.2.3-rc.1' }],
  ['npx://notes@latest', { scheme: 'npx', package: 'notes', version: 'latest' }],
  ['uvx://mcp-server-time', { scheme: 'uvx', package: 'mcp-server-time' }],
  ['uvx://Notes.MCP@2025.1.2', { scheme: 'uvx', package: 'Notes.MCP', version: '2025.1.2' }],
  [
    'go://github.com/acme/notes/cmd/mcp@v1.0.0',
    { scheme: 'go', module: 'github.com/acme/notes/cmd/mcp', version: 'v1.0.0' },
  ],
  ['go://example.org/x', { scheme: 'go', module: 'example.org/x' }],
  ['go://./servers/notes', { scheme: 'go', path: './servers/notes' }],
  ['go://../notes/', { scheme: 'go', path: '../notes/' }],
  ['go://./', { scheme: 'go', path: './' }],
])('%s is a package', (text, expected) => {
  expect(parsePackageReference(text)).toEqual(expected);
  expect(ServerImage.safeParse(text).success).toBe(true);
});

it.each([
  'npx://',
  'npx://-y',
  'npx://Upper',
  'npx://@acme',
  'npx://.hidden',
  'npx://a b',
  'npx://a;rm',
  'npx://a@',
  'npx://a@-1',
  'npx://a@1 2',
  'npx://a/../b',
  'npx://$(x)',
  'npx://a\nb',
  'uvx://-x',
  'uvx://x-',
  'uvx://x==1',
  'uvx://git+https://x',
  'go://notes',
  'go://-x.org/y',
  'go://x.org/-y',
  'go://x.org/../y',
  'go://x.org//y',
  'go:///etc',
  'go://./a b',
  'go://./a;b',
  'go://./$HOME',
  'go://./a//b',
  'pip://x',
  'NPX://x',
  'https://ghcr.io/acme/notes',
  `npx://${'a'.repeat(600)}`,
])('%j is no package, and no image either', (text) => {
  expect(parsePackageReference(text)).toBeUndefined();
  expect(ServerImage.safeParse(text).success).toBe(false);
});

it.each([
  'notes',
  'acme/notes:1.2',
  'ghcr.io/acme/notes__x:latest',
  'localhost:5000/notes',
  `docker.io/library/notes@sha256:${'0'.repeat(64)}`,
])('%s is an image', (text) => {
  expect(parsePackageReference(text)).toBeUndefined();
  expect(ServerImage.safeParse(text).success).toBe(true);
});

it.each(['', 'Notes', '-v', 'a b', 'a:', 'a@sha256:12', '/a', 'a//b', 'a;b', 'ghcr.io/', '../a'])(
  '%j is no image',
  (text) => {
    expect(ServerImage.safeParse(text).success).toBe(false);
  },
);

it('a reference made to make the pattern try everything is refused at once', () => {
  const started = performance.now();
  for (const text of [`go://./${'a'.repeat(500)}!`, `go://a.${'b/'.repeat(240)}!`, `${'a-'.repeat(250)}!`]) {
    expect(ServerImage.safeParse(text).success).toBe(false);
  }
  expect(performance.now() - started).toBeLessThan(200);
});
