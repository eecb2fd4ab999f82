import { describe, expect, it } from 'vitest';
import type { RunInputs } from '../workloads/registry/index.ts';
import { resolveSource } from './source.ts';

const none = async (): Promise<undefined> => undefined;
const FOUND: RunInputs = {
  name: 'dev.acme/notes',
  registry: 'a registry',
  kind: 'package',
  server: 'uvx://notes@1.0',
  transport: 'streamable-http',
  targetPort: 8080,
  args: [],
  missingArgs: [],
  env: [],
  headers: [],
  tools: [],
  notices: [],
  demands: [],
};

describe('the argument of run', () => {
  it.each([
    [
      'https://mcp.acme.dev/mcp',
      { name: 'acme', remote_url: 'https://mcp.acme.dev/mcp', transport: 'streamable-http' },
    ],
    ['npx://@acme/notes@1.0.0', { name: 'acme-notes-1-0-0', image: 'npx://@acme/notes@1.0.0', transport: 'stdio' }],
    ['ghcr.io/acme/notes:1', { name: 'acme-notes', image: 'ghcr.io/acme/notes:1', transport: 'stdio' }],
  ])('%s', async (argument, fields) => {
    expect(await resolveSource(argument, none)).toEqual({ fields });
  });

  it('is looked up in the registry before it is taken for an image, and not when it is a URL or a package', async () => {
    const asked: string[] = [];
    const lookUp = async (name: string): Promise<RunInputs> => {
      asked.push(name);
      return FOUND;
    };
    expect(await resolveSource('dev.acme/notes', lookUp)).toEqual({
      found: FOUND,
      fields: {
        name: 'dev-acme-notes',
        image: 'uvx://notes@1.0',
        transport: 'streamable-http',
        target_port: 8080,
        registry_server_name: 'dev.acme/notes',
        registry_url: 'a registry',
      },
    });
    await resolveSource('npx://notes', lookUp);
    await resolveSource('https://acme.dev', lookUp);
    expect(asked).toEqual(['dev.acme/notes']);
  });

  it('does not turn into an image when the registry cannot be asked', async () => {
    const broken = () => Promise.reject(new Error('the registry is down'));
    await expect(resolveSource('notes', broken)).rejects.toThrow('the registry is down');
  });

  it.each(['docker://x', 'npx://-rf', 'Not An Image', ''])('%j says what was tried', async (argument) => {
    await expect(resolveSource(argument, none)).rejects.toMatchObject({
      code: 'workload.reference_invalid',
      message: expect.stringContaining('it is no URL'),
    });
  });
});
