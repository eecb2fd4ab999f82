import fc from 'fast-check';

/** Something that holds for every input. `npm test` tries a fixed number of inputs, `npm run fuzz` as many as there is time for. */
export interface Property {
  readonly says: string;
  readonly runs: number;
  make(): fc.IRawProperty<unknown>;
}

/** The same inputs in every run of `npm test`: a red test there is a change of ours, not luck. */
const SEED = 20_260_728;

/** Throws with the seed and the smallest input that breaks the property. */
export async function check(property: Property, { seed = SEED, runs = property.runs } = {}): Promise<void> {
  await fc.assert(property.make() as fc.IAsyncProperty<unknown>, { seed, numRuns: runs });
}
