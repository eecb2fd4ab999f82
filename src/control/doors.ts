import { type Gateway, type Listener, listen } from '../gateway/index.ts';
import type { DoorPlan } from '../plan/index.ts';
import { type Generation, type GenerationParts, startGeneration } from './generation.ts';

/** How long open calls may go on after a newer generation took over, or after the program was asked to end. */
const DRAIN_WITHIN = 30_000;
const END_WITHIN = 10_000;

interface Door {
  readonly listener: Listener;
  generation: Generation | undefined;
}

export interface OpenDoor {
  readonly url: string;
  readonly gateways: readonly Gateway[];
}

/** The listeners of one `sally` and what is behind each right now. */
export interface Doors {
  /** Serves exactly these plans from now on. When one cannot be served it throws, and everything stays as it was. */
  serve(plans: readonly DoorPlan[], stop: AbortSignal): Promise<readonly OpenDoor[]>;
  close(): Promise<void>;
}

export function createDoors(parts: GenerationParts): Doors {
  const doors = new Map<number, Door>();
  const draining = new Set<Promise<void>>();
  const ending = new AbortController();
  const drainCut = (): AbortSignal => AbortSignal.any([ending.signal, AbortSignal.timeout(DRAIN_WITHIN)]);

  /** Drains in the background: the new generation already serves, nobody needs to wait for the old one. */
  function retire(work: Promise<void>): void {
    const tracked = work.finally(() => draining.delete(tracked));
    draining.add(tracked);
  }

  async function openMissing(plans: readonly DoorPlan[]): Promise<Map<number, Door>> {
    const opened = new Map<number, Door>();
    try {
      for (const { port } of plans) {
        if (doors.has(port)) continue;
        opened.set(port, { listener: await listen(parts.access.host, port), generation: undefined });
      }
      return opened;
    } catch (error) {
      for (const { listener } of opened.values()) await listener.close(AbortSignal.abort());
      throw error;
    }
  }

  /** All of them or none: what was begun for one that cannot be served is taken back. */
  async function startAll(plans: readonly DoorPlan[], stop: AbortSignal): Promise<readonly Generation[]> {
    const started = await Promise.allSettled(plans.map(({ gateways }) => startGeneration(gateways, parts, stop)));
    const generations = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = started.find((one) => one.status === 'rejected');
    if (!failed) return generations;
    await Promise.all(generations.map((generation) => generation.drain(AbortSignal.abort())));
    throw failed.reason;
  }

  return {
    async serve(plans, stop) {
      const opened = await openMissing(plans);
      const generations = await startAll(plans, stop).catch(async (error: unknown) => {
        for (const { listener } of opened.values()) await listener.close(AbortSignal.abort());
        throw error;
      });
      for (const [port, door] of opened) doors.set(port, door);

      const wanted = new Set(plans.map(({ port }) => port));
      for (const [port, door] of doors) {
        if (wanted.has(port)) continue;
        doors.delete(port);
        const cut = drainCut();
        retire(Promise.all([door.listener.close(cut), door.generation?.drain(cut)]).then(() => {}));
      }

      return plans.map(({ port }, index) => {
        const door = doors.get(port) as Door;
        const next = generations[index] as Generation;
        const old = door.generation;
        door.generation = next;
        door.listener.hand(next.handler); // from here on new requests reach the new gateways
        for (const gateway of next.gateways) gateway.takeOver();
        if (old) retire(old.drain(drainCut()));
        return { url: door.listener.url, gateways: next.gateways };
      });
    },

    async close() {
      const cut = AbortSignal.timeout(END_WITHIN);
      cut.addEventListener('abort', () => ending.abort(), { once: true });
      const open = [...doors.values()];
      doors.clear();
      const drained = Promise.all(open.map(({ generation }) => generation?.drain(cut)));
      await Promise.all(open.map(({ listener }) => listener.close(cut)));
      await Promise.all([drained, ...draining]);
    },
  };
}
