import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Who may import whom. A folder may always import itself; everything else it needs stands here.
 * Longer names win: `gateway/hub` is a stage, `gateway` means the files directly in it.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  mcp: ['base'],
  oauth: ['base'],
  kube: ['base'],
  telemetry: ['base'],
  secrets: ['base', 'kube'],
  settings: ['base'],
  resources: ['base'],
  plan: ['base', 'resources'],
  sources: ['base', 'resources', 'kube'],
  workloads: ['base', 'resources', 'kube', 'secrets'],
  authserver: ['base', 'oauth', 'plan'],
  gateway: ['*stages', 'base', 'plan', 'mcp', 'oauth', 'telemetry', 'authserver'],
  control: ['*all'],
  cli: ['*all'],
  main: ['*all'],
  supervisor: ['*all'],
  signals: [],
};
const STAGES = ['listener', 'incoming', 'clients', 'policy', 'hub', 'outgoing', 'backends'];
const STAGE_MAY_IMPORT = ['base', 'plan', 'mcp', 'oauth', 'telemetry'];
/** The types every stage shares. */
const SHARED_BY_STAGES = 'gateway/call.ts';
/** Nobody imports these. */
const TOPS = ['cli', 'main', 'supervisor'];

/** Each library has one owner folder. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  zod: ['resources'],
  yaml: ['sources', 'resources', 'settings', 'cli'],
  '@napi-rs/keyring': ['secrets'],
  undici: ['base'],
  'eventsource-parser': ['mcp'],
  commander: ['cli'],
  jose: ['oauth'],
  oauth4webapi: ['oauth'],
  'oidc-provider': ['authserver'],
  ioredis: ['authserver'],
  dockerode: ['workloads'],
  '@sigstore/bundle': ['workloads'],
  '@sigstore/protobuf-specs': ['workloads'],
  '@sigstore/tuf': ['workloads'],
  '@sigstore/verify': ['workloads'],
  ignore: ['workloads'],
  '@modelcontextprotocol/core': ['mcp'],
  '@modelcontextprotocol/client': [],
  '@modelcontextprotocol/server': [],
  '@modelcontextprotocol/sdk': [],
};

const SRC = resolve(import.meta.dirname, '../src');

interface Import {
  readonly from: string;
  readonly to: string;
}

function sourceFiles(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
}

/** Every `import … from`, `export … from` and `import(…)` of a source text. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(['"])([^'"]+)\1/g);
  return [...found].map((match) => match[2] ?? '');
}

function folderOf(file: string): string {
  const parts = file.split('/');
  if (parts.length === 1) return (parts[0] ?? '').replace(/\.ts$/, '');
  if (parts[0] === 'gateway' && STAGES.includes(parts[1] ?? '')) return `gateway/${parts[1]}`;
  return parts[0] ?? '';
}

/** Why `from` may not import `to` (both relative to src), or `undefined` when it may. */
function whyForbidden({ from, to }: Import): string | undefined {
  const [source, target] = [folderOf(from), folderOf(to)];
  if (source === target) return undefined;
  if (TOPS.includes(target) && !TOPS.includes(source)) return `nobody imports ${target}`;
  if (source.startsWith('gateway/')) {
    if (to === SHARED_BY_STAGES || STAGE_MAY_IMPORT.includes(target)) return isDoor(to);
    return `a gateway stage may import ${STAGE_MAY_IMPORT.join(', ')} and ${SHARED_BY_STAGES}, never another stage`;
  }
  const allowed = MAY_IMPORT[source];
  if (!allowed) return `the folder ${source} is not in the table`;
  if (allowed.includes('*all')) return isDoor(to);
  if (allowed.includes('*stages') && target.startsWith('gateway/')) return isDoor(to);
  return allowed.includes(target) ? isDoor(to) : `${source} may import ${allowed.join(', ') || 'nothing of ours'}`;
}

/** Other folders are entered through a door file. `base/http` has a door of its own, since what is behind it is heavy to load. */
function isDoor(to: string): string | undefined {
  if (to.endsWith('/index.ts') || to === SHARED_BY_STAGES || !to.includes('/')) return undefined;
  return 'other folders are entered through their index.ts';
}

describe('the import table', () => {
  it('holds for every import of the source tree', () => {
    const broken: string[] = [];
    for (const file of sourceFiles()) {
      for (const specifier of importsOf(readFileSync(join(SRC, file), 'utf8'))) {
        if (!specifier.startsWith('.')) continue;
        const to = relative(SRC, resolve(SRC, dirname(file), specifier)).replaceAll('\\', '/');
        const why = to.startsWith('..') ? undefined : whyForbidden({ from: file, to });
        if (why) broken.push(`${file} imports ${to}: ${why}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it('gives each library one owner', () => {
    const broken: string[] = [];
    for (const file of sourceFiles()) {
      for (const specifier of importsOf(readFileSync(join(SRC, file), 'utf8'))) {
        const library = Object.keys(OWNERS).find((name) => specifier === name || specifier.startsWith(`${name}/`));
        if (library && !OWNERS[library]?.includes(file.split('/')[0] ?? '')) broken.push(`${file} imports ${library}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it('knows every folder of the tree', () => {
    const folders = new Set(sourceFiles().map(folderOf));
    const known = [...Object.keys(MAY_IMPORT), ...STAGES.map((stage) => `gateway/${stage}`)];
    expect([...folders].filter((folder) => !known.includes(folder))).toEqual([]);
  });

  it('refuses what the table forbids', () => {
    expect(whyForbidden({ from: 'base/log.ts', to: 'mcp/index.ts' })).toMatch('nothing of ours');
    expect(whyForbidden({ from: 'gateway/hub/hub.ts', to: 'gateway/backends/index.ts' })).toMatch(
      'never another stage',
    );
    expect(whyForbidden({ from: 'gateway/hub/hub.ts', to: 'resources/index.ts' })).toMatch('stage may import');
    expect(whyForbidden({ from: 'control/serve.ts', to: 'cli/output.ts' })).toMatch('nobody imports cli');
    expect(whyForbidden({ from: 'plan/plan.ts', to: 'resources/kinds/mcp-server.ts' })).toMatch('index.ts');
    expect(whyForbidden({ from: 'gateway/hub/hub.ts', to: 'gateway/call.ts' })).toBeUndefined();
    expect(whyForbidden({ from: 'gateway/endpoint.ts', to: 'gateway/hub/index.ts' })).toBeUndefined();
  });

  it('sees every form of import', () => {
    expect(
      importsOf(`import a from './a.ts'; export { b } from "./b.ts"; await import('./c.ts'); import './d.ts';`),
    ).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts']);
  });
});
