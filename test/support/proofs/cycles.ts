import type { TestEngine } from '../engine.ts';
import { countedHome, type Footprint, footprint } from '../footprint.ts';
import { eventually } from '../processes.ts';

export interface CycleWish {
  readonly cycles: number;
  readonly server: string;
  readonly flags: readonly string[];
  readonly engine?: TestEngine | undefined;
}

export interface CycleFigures {
  readonly cycles: number;
  /** What there is more of than before, with how much. Nothing, when nothing leaks. */
  readonly leaks: Readonly<Partial<Record<keyof Footprint, number>>>;
  readonly before: Readonly<Record<keyof Footprint, number>>;
  readonly after: Readonly<Record<keyof Footprint, number>>;
  readonly secondsPerCycle: number;
}

/** Runs and removes one workload again and again, and counts what is there before and after. */
export async function proveCycles({ cycles, server, flags, engine }: CycleWish): Promise<CycleFigures> {
  await using home = await countedHome(engine);
  const count = async (): Promise<CycleFigures['before']> => counted(await footprint(home, engine));
  const before = await count();
  const began = performance.now();
  for (let cycle = 0; cycle < cycles; cycle++) {
    await home.ok(['run', server, '--name', 'cycle', ...flags]);
    await home.ok(['rm', 'cycle']);
  }
  const secondsPerCycle = Math.round((performance.now() - began) / cycles / 100) / 10;
  // A guardian ends a moment after the supervisor that it watched.
  const after = await eventually(count, (now) => Object.keys(more(before, now)).length === 0, 5_000).catch(count);
  return { cycles, leaks: more(before, after), before, after, secondsPerCycle };
}

function counted({ files, temporary, ...numbers }: Footprint): CycleFigures['before'] {
  return { ...numbers, files: files.length, temporary: temporary.length };
}

function more(before: CycleFigures['before'], after: CycleFigures['before']): CycleFigures['leaks'] {
  const names = Object.keys(before) as (keyof Footprint)[];
  return Object.fromEntries(
    names.filter((name) => after[name] > before[name]).map((name) => [name, after[name] - before[name]]),
  );
}
