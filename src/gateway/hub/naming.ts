import { createHash } from 'node:crypto';
import type { ConflictPlan } from '../../plan/index.ts';

/** What many clients and model APIs take as the name of a tool. */
const ALLOWED = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/** The name of a backend's entry with its prefix. */
export function prefixed(format: string, backend: string, name: string): string {
  return format.replaceAll('{workload}', () => backend) + name;
}

/**
 * A name that every client can use. A pure function of what it is given: the same tool has the same name on every replica
 * and after every restart, and two different names never become one.
 */
export function presentable(name: string): string {
  return ALLOWED.test(name) ? name : `${beginning(name)}_${hashOf(name)}`;
}

/** How every name begins that starts like this, whatever follows. */
export function beginning(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_LENGTH - HASH_LENGTH - 1);
}

/** A name for an entry whose own name is taken, by where it comes from. */
export function apart(name: string, backend: string): string {
  return presentable(`${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hashOf(`${backend}\0${name}`)}`);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
}

/** One entry that wants a name. */
export interface Candidate<T> {
  readonly backend: string;
  readonly name: string;
  readonly entry: T;
}

export interface Named<T> {
  readonly name: string;
  readonly candidate: Candidate<T>;
}

export interface Naming<T> {
  readonly named: readonly Named<T>[];
  /** What had to be decided, in words for a log. */
  readonly remarks: readonly string[];
}

/** Gives every candidate a name of its own, or leaves it out where the configuration says so. Candidates come in a fixed order. */
export function assignNames<T>(candidates: readonly Candidate<T>[], conflicts: ConflictPlan): Naming<T> {
  const named = new Map<string, Candidate<T>>();
  const remarks: string[] = [];

  function place(name: string, candidate: Candidate<T>): void {
    const shown = presentable(name);
    if (!named.has(shown)) {
      named.set(shown, candidate);
      return;
    }
    const other = apart(name, candidate.backend);
    remarks.push(
      `${candidate.backend} and ${named.get(shown)?.backend} both offer ${shown}; that of ${candidate.backend} is called ${other}`,
    );
    if (!named.has(other)) named.set(other, candidate);
  }

  switch (conflicts.kind) {
    case 'prefix':
      for (const candidate of candidates)
        place(prefixed(conflicts.format, candidate.backend, candidate.name), candidate);
      break;
    case 'priority':
      for (const rivals of groupByName(candidates)) {
        const winner = byPriority(rivals, conflicts.order);
        if (winner) {
          place(winner.name, winner);
          for (const loser of rivals)
            if (loser !== winner)
              remarks.push(`${loser.name} of ${loser.backend} gives way to that of ${winner.backend}`);
        } else {
          for (const rival of rivals) place(prefixed(conflicts.format, rival.backend, rival.name), rival);
        }
      }
      break;
    case 'manual':
      for (const rivals of groupByName(candidates)) {
        const [first, ...others] = rivals;
        if (others.length === 0 && first) place(first.name, first);
        else
          for (const rival of rivals)
            remarks.push(
              `${rival.name} is offered by several servers; ${rival.backend}'s is left out until an override renames it`,
            );
      }
      break;
  }
  return { named: [...named].map(([name, candidate]) => ({ name, candidate })), remarks };
}

function groupByName<T>(candidates: readonly Candidate<T>[]): Iterable<readonly Candidate<T>[]> {
  return Map.groupBy(candidates, ({ name }) => name).values();
}

/** The one that keeps the bare name: the only one, or the one whose backend stands first in the order. */
function byPriority<T>(rivals: readonly Candidate<T>[], order: readonly string[]): Candidate<T> | undefined {
  if (rivals.length === 1) return rivals[0];
  const ranked = rivals.filter(({ backend }) => order.includes(backend));
  return ranked.sort((a, b) => order.indexOf(a.backend) - order.indexOf(b.backend))[0];
}
