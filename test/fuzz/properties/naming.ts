import assert from 'node:assert/strict';
import fc from 'fast-check';
import { assignNames, type Candidate } from '../../../src/gateway/hub/naming.ts';
import type { ConflictPlan } from '../../../src/plan/index.ts';
import type { Property } from './property.ts';

const backend = fc.constantFrom('a', 'a_b', 'a-b', 'b', 'b_c', 'files', 'x'.repeat(63));
const tool = fc.oneof(
  fc.constantFrom('b', 'c', 'b_c', 'read', 'read.file', 'read/file', 'read file', 'READ', 'ré', '名前', 'x'.repeat(64)),
  fc.string({ minLength: 1, maxLength: 80 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
);
const format = fc.constantFrom('{workload}_', '{workload}.', '{workload}{workload}-', '', '$&{workload}');
const conflicts: fc.Arbitrary<ConflictPlan> = fc.oneof(
  format.map((text): ConflictPlan => ({ kind: 'prefix', format: text })),
  fc
    .tuple(fc.uniqueArray(backend), format)
    .map(([order, text]): ConflictPlan => ({ kind: 'priority', order, format: text })),
  fc.constant<ConflictPlan>({ kind: 'manual' }),
);

/** What backends offer: each a list of different names. */
const offered = fc
  .uniqueArray(fc.tuple(backend, fc.uniqueArray(tool, { maxLength: 8 })), { selector: ([name]) => name, maxLength: 6 })
  .map((backends) =>
    backends.flatMap(([name, tools]) =>
      tools.map((own): Candidate<string> => ({ backend: name, name: own, entry: own })),
    ),
  );

const shown = (candidates: readonly Candidate<string>[], plan: ConflictPlan): string[] =>
  assignNames(candidates, plan).named.map(({ name, candidate }) =>
    JSON.stringify([name, candidate.backend, candidate.name]),
  );

export const naming: readonly Property[] = [
  {
    says: 'names are unique, at most 64 of [A-Za-z0-9_-], and the same for the same input',
    runs: 1_000,
    make: () =>
      fc.property(offered, conflicts, (candidates, plan) => {
        const { named } = assignNames(candidates, plan);
        for (const { name } of named) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
        assert.equal(new Set(named.map(({ name }) => name)).size, named.length);
        assert.deepEqual(shown(candidates, plan), shown(structuredClone(candidates), structuredClone(plan)));
      }),
  },
  {
    says: 'nothing is lost in silence: what has no name is named in a remark',
    runs: 1_000,
    make: () =>
      fc.property(offered, conflicts, (candidates, plan) => {
        const { named, remarks } = assignNames(candidates, plan);
        const kept = new Set(named.map(({ candidate }) => candidate));
        for (const candidate of candidates)
          if (!kept.has(candidate))
            assert(
              remarks.some((remark) => remark.includes(candidate.backend)),
              `${JSON.stringify(candidate)} is gone`,
            );
      }),
  },
  {
    says: 'a backend whose names meet nobody else’s changes no name of the others',
    runs: 1_000,
    make: () =>
      fc.property(offered, conflicts, fc.nat({ max: 8 }), fc.nat(), (candidates, plan, count, place) => {
        const strangers = Array.from({ length: count }, (_, index): Candidate<string> => {
          const own = `unrelated-${index}-zzz`;
          return { backend: 'zz', name: own, entry: own };
        });
        const at = place % (candidates.length + 1);
        const together = shown([...candidates.slice(0, at), ...strangers, ...candidates.slice(at)], plan);
        const isOther = (text: string): boolean => !text.includes('unrelated-');
        assert.deepEqual(together.filter(isOther), shown(candidates, plan));
      }),
  },
  {
    says: 'whoever is named by a call is the one whose tool it is: no two entries share a place',
    runs: 500,
    make: () =>
      fc.property(offered, conflicts, (candidates, plan) => {
        const { named } = assignNames(candidates, plan);
        assert.equal(new Set(named.map(({ candidate }) => candidate)).size, named.length);
      }),
  },
];
