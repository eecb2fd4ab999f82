import { SallyError, suggest, toSallyError } from '../../base/index.ts';
import type { WorkloadRecord, WorkloadStore } from '../../workloads/index.ts';
import type { LifecycleParts } from './parts.ts';

/** Which workloads a command is about. */
export interface Selection {
  readonly names: readonly string[];
  readonly all?: boolean;
  readonly group?: string;
}

/** The record of a workload, or an error that helps to find the right name. */
export async function known(name: string, store: WorkloadStore): Promise<WorkloadRecord> {
  const record = await store.read(name);
  if (record) return record;
  throw await unknown(name, store);
}

export async function unknown(name: string, store: WorkloadStore): Promise<SallyError> {
  const close = suggest(name, await store.names());
  return new SallyError('workload.unknown', `there is no workload ${JSON.stringify(name)}`, {
    hint: close ? `did you mean ${close}?` : 'sally list --all shows those there are',
  });
}

/** The names that are meant. */
export async function select(
  { names, all, group }: Selection,
  { store, groups }: LifecycleParts,
): Promise<readonly string[]> {
  if ([names.length > 0, all, group !== undefined].filter(Boolean).length !== 1) {
    throw new SallyError('usage.invalid', 'say which workloads are meant', {
      hint: 'give names, or --all, or --group NAME, and one of these only',
    });
  }
  if (all) return await store.names();
  if (group === undefined) return [...new Set(names)];
  await groups.check(group);
  return await membersOf(group, store);
}

/** The workloads of a group, whether there still is such a group or not. One whose state cannot be read is in none. */
export async function membersOf(group: string, store: WorkloadStore): Promise<readonly string[]> {
  const members = await Promise.all(
    (await store.names()).map(async (name) => {
      const record = await store.read(name).catch(() => undefined);
      return record?.config.group === group ? [name] : [];
    }),
  );
  return members.flat();
}

/** Several workloads may fail for several reasons, and the others go on. */
export class SeveralFailed extends SallyError {
  readonly failures: readonly { readonly name: string; readonly error: SallyError }[];

  constructor(failures: SeveralFailed['failures'], of: number) {
    super(failures[0]?.error.code ?? 'internal.bug', `${failures.length} of ${of} workloads failed`);
    this.failures = failures;
  }

  override get details(): readonly string[] {
    return this.failures.map(({ name, error }) => {
      return `${name}: ${error.message.split('\n', 1)[0]}${error.hint === undefined ? '' : ` (${error.hint})`}`;
    });
  }
}

const AT_ONCE = 8;

/** Does something with each, a few at a time. What fails does not keep the others from being done. */
export async function forEach<T>(names: readonly string[], work: (name: string) => Promise<T>): Promise<readonly T[]> {
  const waiting = [...names];
  const done = new Map<string, T>();
  const failures: { name: string; error: SallyError }[] = [];
  async function worker(): Promise<void> {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      try {
        done.set(name, await work(name));
      } catch (thrown) {
        failures.push({ name, error: toSallyError(thrown) });
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const [first] = failures;
  if (first && names.length === 1) throw first.error;
  if (first) throw new SeveralFailed(failures, names.length);
  return names.flatMap((name) => (done.has(name) ? [done.get(name) as T] : []));
}
