import { describe, expect, it } from 'vitest';
import type { AggregationPlan, ConflictPlan, ToolsPlan } from '../../plan/index.ts';
import type { Backend, Item } from '../call.ts';
import { mergeListings } from './view.ts';

interface Offer {
  readonly tools?: readonly Item[];
  readonly prompts?: readonly Item[];
  readonly resources?: readonly Item[];
  readonly templates?: readonly Item[];
}

function backend(name: string, offer: Offer): Backend {
  const listing = { tools: [], prompts: [], resources: [], templates: [], ...offer };
  return { name, listing: () => listing } as unknown as Backend;
}

function tools(...names: string[]): Offer {
  return { tools: names.map((name) => ({ name, description: `does ${name}`, inputSchema: { type: 'object' } })) };
}

const PREFIX: ConflictPlan = { kind: 'prefix', format: '{workload}_' };

function plan(conflicts: ConflictPlan = PREFIX, extra: Partial<Extract<AggregationPlan, { kind: 'many' }>> = {}) {
  return { kind: 'many', conflicts, tools: new Map(), offerOthers: true, offerNone: false, ...extra } as const;
}

function rules(extra: Partial<ToolsPlan> = {}): ToolsPlan {
  return { filter: new Set(), overrides: new Map(), excludeAll: false, ...extra };
}

const names = (items: readonly Item[]) => items.map(({ name }) => name);

describe('names', () => {
  const both = [backend('a', tools('read', 'write')), backend('b', tools('read'))];

  it('prefix: every tool carries its server', () => {
    const view = mergeListings(both, plan());
    expect(names(view.listing.tools)).toEqual(['a_read', 'a_write', 'b_read']);
    expect(view.tools.get('b_read')).toMatchObject({ backend: { name: 'b' }, name: 'read' });
  });

  it('priority: the first in the order keeps the bare name, and the other gives way', () => {
    const view = mergeListings(both, plan({ kind: 'priority', order: ['b', 'a'], format: '{workload}_' }));
    expect(names(view.listing.tools).sort()).toEqual(['read', 'write']);
    expect(view.tools.get('read')?.backend.name).toBe('b');
    expect(view.remarks).toHaveLength(1);
  });

  it('priority: rivals that are not in the order are told apart by their prefix', () => {
    const view = mergeListings(both, plan({ kind: 'priority', order: ['c'], format: '{workload}-' }));
    expect(names(view.listing.tools).sort()).toEqual(['a-read', 'b-read', 'write']);
  });

  it('manual: what clashes is left out until somebody renames it', () => {
    expect(names(mergeListings(both, plan({ kind: 'manual' })).listing.tools)).toEqual(['write']);
    const renamed = plan(
      { kind: 'manual' },
      { tools: new Map([['b', rules({ overrides: new Map([['read', { name: 'look' }]]) })]]) },
    );
    expect(names(mergeListings(both, renamed).listing.tools)).toEqual(['read', 'write', 'look']);
  });

  it('are never longer than 64 characters and hold only what every client takes', () => {
    const odd = backend('server', tools('x'.repeat(100), 'with space/and.slash', 'grüße', 'x'.repeat(99)));
    const view = mergeListings([odd], plan());
    for (const name of names(view.listing.tools)) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(names(view.listing.tools)).size).toBe(4);
    expect(names(mergeListings([odd], plan()).listing.tools)).toEqual(names(view.listing.tools));
  });

  it('that meet after prefixing stay apart, the same way every time', () => {
    const meeting = [backend('a', tools('b_c')), backend('a_b', tools('c'))];
    const view = mergeListings(meeting, plan());
    expect(names(view.listing.tools)[0]).toBe('a_b_c');
    expect(names(view.listing.tools)[1]).toMatch(/^a_b_c_[0-9a-f]{8}$/);
    expect(view.remarks).toHaveLength(1);
  });
});

describe('what is offered', () => {
  const one = [backend('a', tools('read', 'write'))];
  const with_ = (extra: Partial<ToolsPlan>) => plan(PREFIX, { tools: new Map([['a', rules(extra)]]) });

  it('a filter speaks of names after renaming, and what it hides cannot be called', () => {
    const view = mergeListings(
      one,
      with_({ filter: new Set(['look']), overrides: new Map([['read', { name: 'look' }]]) }),
    );
    expect(names(view.listing.tools)).toEqual(['a_look']);
    expect([...view.tools.keys()]).toEqual(['a_look']);
    expect(view.tools.get('a_look')?.name).toBe('read');
  });

  it('overrides change words and hints, and leave the rest', () => {
    const overrides = new Map([['read', { description: 'Reads.', annotations: { readOnlyHint: true } }]]);
    const [read] = mergeListings(one, with_({ overrides })).listing.tools;
    expect(read).toEqual({
      name: 'a_read',
      description: 'Reads.',
      annotations: { readOnlyHint: true },
      inputSchema: { type: 'object' },
    });
  });

  it('excludeAll, excludeAllTools and a default of deny hide tools', () => {
    expect(mergeListings(one, with_({ excludeAll: true })).tools.size).toBe(0);
    expect(mergeListings(one, plan(PREFIX, { offerNone: true })).tools.size).toBe(0);
    expect(mergeListings(one, plan(PREFIX, { offerOthers: false })).tools.size).toBe(0);
  });

  it('an override named like something every object has is no override', () => {
    expect(names(mergeListings([backend('a', tools('constructor', '__proto__'))], plan()).listing.tools)).toEqual([
      'a_constructor',
      'a___proto__',
    ]);
  });
});

it('resources keep their URIs; of two equal ones the first stays', () => {
  const view = mergeListings(
    [
      backend('a', { resources: [{ uri: 'x://1', title: 'A' }], templates: [{ uriTemplate: 'x://{id}/a' }] }),
      backend('b', {
        resources: [
          { uri: 'x://1', title: 'B' },
          { uri: 'x://2', icons: [1] },
        ],
      }),
    ],
    plan(),
  );
  expect(view.listing.resources).toEqual([
    { uri: 'x://1', title: 'A' },
    { uri: 'x://2', icons: [1] },
  ]);
  expect(view.resources.get('x://2')?.name).toBe('b');
  expect(view.templates[0]?.matches('x://7/a')).toBe(true);
});

it('prompts are named like tools', () => {
  const view = mergeListings([backend('a', { prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }] })], plan());
  expect(view.listing.prompts).toEqual([{ name: 'a_greet', arguments: [{ name: 'who' }] }]);
});
