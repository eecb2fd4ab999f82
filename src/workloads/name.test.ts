import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkWorkloadName, workloadNameFor } from './name.ts';

describe('the default name of a workload', () => {
  it.each([
    ['npx://@acme/notes@2.1.0', 'acme-notes-2-1-0'],
    ['npx://notes', 'notes'],
    ['uvx://mcp-server-time@1.0', 'mcp-server-time-1-0'],
    ['uvx://notes[fast]', 'notes-fast'],
    ['go://github.com/acme/notes/cmd/server@v1.2.3', 'github-com-acme-notes-cmd-server-v1-2-3'],
    ['go://./cmd/notes', 'cmd-notes'],
    ['go://../../notes/', 'notes'],
    ['go:///srv/notes', 'srv-notes'],
    ['go://.', 'sallyport-workload'],
  ])('of the package %s is %s', (reference, name) => {
    expect(workloadNameFor(reference)).toBe(name);
  });

  it.each([
    ['https://mcp.acme.dev/mcp', 'acme'],
    ['https://acme.dev', 'acme'],
    ['http://localhost:8080/mcp', 'localhost'],
    ['https://mcp.acme.co.uk/mcp', 'acme'],
    ['https://acme.co/mcp', 'acme'],
    ['http://127.0.0.1:9000/mcp', '127-0-0-1'],
    ['http://[::1]:9000/mcp', '1'],
    ['https://mcp.acme.dev./', 'acme'],
  ])('of the remote server %s is %s', (reference, name) => {
    expect(workloadNameFor(reference)).toBe(name);
  });

  it.each([
    ['ghcr.io/acme/notes:1.4.0', 'acme-notes'],
    ['localhost:5000/notes', 'notes'],
    ['mcp/fetch', 'mcp-fetch'],
    ['notes', 'notes'],
    [`registry.acme.dev/a/b/notes@sha256:${'0'.repeat(64)}`, 'b-notes'],
    ['registry://io.github.acme/notes', 'io-github-acme-notes'],
  ])('of %s is %s', (reference, name) => {
    expect(workloadNameFor(reference)).toBe(name);
  });

  it('is always an allowed name', () => {
    fc.assert(
      fc.property(fc.constantFrom('npx://', 'go://', 'https://', ''), fc.string({ maxLength: 200 }), (scheme, rest) => {
        expect(() => checkWorkloadName(workloadNameFor(scheme + rest))).not.toThrow();
      }),
    );
  });
});

describe('the check of a name', () => {
  it.each(['notes', 'Notes_2.1', 'a', 'x'.repeat(100), '.hidden'])('allows %j', (name) => {
    expect(() => checkWorkloadName(name)).not.toThrow();
  });

  it.each([
    ['', 'empty'],
    ['a/b', '"/" is not allowed'],
    ['..', 'folder'],
    ['.', 'folder'],
    ['a b', '" " is not allowed'],
    ['x\0', 'not allowed'],
    ['$(id)', '"$" is not allowed'],
    ['ü', '"ü" is not allowed'],
    ['-a', 'flag'],
    ['x'.repeat(101), 'more than 100'],
  ])('refuses %j', (name, reason) => {
    expect(() => checkWorkloadName(name)).toThrow(reason);
  });
});
