import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Ask, catalogueSource, createRegistry, type Declaration } from '../../workloads/registry/index.ts';
import { lookUpIn, openSecrets, type Secrets, settleDeclared } from './index.ts';

let home: string;
let secrets: Secrets;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sally-inputs-'));
  const env = { SALLYPORT_HOME: home, SALLYPORT_SECRETS_PASSWORD: 'correct horse' };
  secrets = await openSecrets({ env, cost: { N: 1024, r: 8, p: 1 } });
});
afterEach(() => rm(home, { recursive: true }));

const DECLARED: readonly Declaration[] = [
  { name: 'API_KEY', required: true, secret: true },
  { name: 'REGION', required: true, secret: false },
];
const person: Ask = { ask: async () => 'eu', askHidden: async () => 'typed' };

it('asks once for a workload, and finds the secret again at the next run', async () => {
  const first = await settleDeclared(DECLARED, { workload: 'w', secrets, given: new Set(), ask: person });
  expect(first).toEqual({ values: { REGION: 'eu' }, references: ['__sally_workload_w/API_KEY,target=API_KEY'] });
  expect(JSON.stringify(first)).not.toContain('typed');
  const again = await settleDeclared(DECLARED, { workload: 'w', secrets, given: new Set(['REGION']) });
  expect(again).toEqual({ values: {}, references: first.references });
  expect((await secrets.resolverFor('w')(again.references)).API_KEY?.reveal()).toBe('typed');
});

it('does not share it with another workload of the same server', async () => {
  await settleDeclared(DECLARED, { workload: 'w', secrets, given: new Set(), ask: person });
  await expect(settleDeclared(DECLARED, { workload: 'v', secrets, given: new Set(['REGION']) })).rejects.toMatchObject({
    code: 'registry.variable_missing',
    message: expect.stringContaining('API_KEY'),
  });
});

it('does not open the store when nothing secret is declared or everything is given', async () => {
  const untouched: Secrets = await openSecrets({ env: { SALLYPORT_HOME: home } });
  const given = new Set(['API_KEY', 'REGION']);
  expect(await settleDeclared(DECLARED, { workload: 'w', secrets: untouched, given })).toEqual({
    values: {},
    references: [],
  });
});

it('gives run what it needs for a name, and nothing for a stranger', async () => {
  const lookUp = lookUpIn(createRegistry(catalogueSource), { containers: false });
  expect(await lookUp('fetch')).toMatchObject({
    name: 'fetch',
    registry: 'the built-in catalogue',
    server: expect.stringMatching(/^uvx:\/\/mcp-server-fetch@/),
    transport: 'stdio',
    args: [],
  });
  expect(await lookUp('ghcr.io/acme/notes')).toBeUndefined();
});
