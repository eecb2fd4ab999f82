import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Gate, startGate } from '../security/support/gate.ts';
import { startWebServer } from '../security/support/servers.ts';
import { modern, openSession, post, textOf } from '../security/support/wire.ts';
import { ATTACKS } from './attacks.ts';
import { lie, RUDE_PIPE } from './hostile.ts';
import { createRandom } from './random.ts';

export interface WireReport {
  readonly attacks: Readonly<Record<string, number>>;
  readonly canaries: number;
  readonly slowestCanary: number;
  readonly peakMegabytes: number;
  readonly endMegabytes: number;
}

/** What the process may take while it is attacked, and some time after. Eight attackers may each have a body of 8 MB under way. */
const PEAK_MEGABYTES = 700;
const END_MEGABYTES = 400;
const ATTACKERS = 8;
/** A canary shares two cores with everything else here. */
const CANARY_WITHIN = 10_000;

/** Attacks a really started gateway with good and hostile servers behind it, until the time is over or something breaks. */
export async function fuzzWire(seed: number, seconds: number): Promise<WireReport> {
  await using good = await startWebServer();
  await using liar = await startWebServer(lie);
  await using gate = await startGate({
    web: { good: good.url, liar: liar.url },
    pipes: { pipe: '() => false', rude: RUDE_PIPE },
  });
  const stop = new AbortController();
  const until = performance.now() + seconds * 1_000;
  const counts: Record<string, number> = Object.fromEntries(Object.keys(ATTACKS).map((name) => [name, 0]));
  let [canaries, slowestCanary, peak] = [0, 0, 0];
  const goingOn = (): boolean => !stop.signal.aborted && performance.now() < until;

  async function attack(number: number): Promise<void> {
    const random = createRandom(seed + number);
    while (goingOn()) {
      const name = random.pick(Object.keys(ATTACKS));
      counts[name] = (counts[name] ?? 0) + 1;
      // What an attacker gets to see does not matter, only what everybody else does.
      await Promise.race([ATTACKS[name]?.(gate.url, random).catch(() => {}), sleep(8_000, undefined, { ref: false })]);
    }
  }

  async function sing(): Promise<void> {
    for (let number = 0; goingOn(); number++) {
      const began = performance.now();
      await Promise.race([
        canary(gate.url, number),
        sleep(CANARY_WITHIN).then(() => Promise.reject(new Error(`no answer within ${CANARY_WITHIN} ms`))),
      ]);
      slowestCanary = Math.max(slowestCanary, performance.now() - began);
      canaries += 1;
      await sleep(20);
    }
  }

  async function watch(): Promise<void> {
    while (goingOn()) {
      gate.stillWell();
      const now = megabytesOf(gate);
      peak = Math.max(peak, now);
      if (now > PEAK_MEGABYTES) throw new Error(`the gateway takes ${now} MB`);
      await sleep(100);
    }
  }

  const failing = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      stop.abort();
      throw error;
    });
  const work = [sing(), watch(), ...Array.from({ length: ATTACKERS }, (_, number) => attack(number))].map(failing);
  const outcomes = await Promise.allSettled(work);
  for (const outcome of outcomes) {
    if (outcome.status !== 'rejected') continue;
    gate.stillWell(); // a dead gateway explains a dead canary
    throw outcome.reason;
  }

  await sleep(3_000);
  gate.stillWell();
  await canary(gate.url, -1);
  const end = megabytesOf(gate);
  if (end > END_MEGABYTES) throw new Error(`the gateway still takes ${end} MB after everybody left`);
  return { attacks: counts, canaries, slowestCanary, peakMegabytes: peak, endMegabytes: end };
}

/** An honest client in each style. All use the same id, and each must get its own text. */
async function canary(url: URL, number: number): Promise<void> {
  const text = `canary ${number}`;
  const call = (name: string) => ({
    jsonrpc: '2.0',
    id: 77,
    method: 'tools/call',
    params: { name, arguments: { text } },
  });
  const session = { 'mcp-session-id': await openSession(url) };
  for (const name of ['good_say', 'pipe_say']) {
    const { message, headers } = modern(77, 'tools/call', { name, arguments: { text } });
    const answers = [
      await post(url, call(name), session),
      await post(url, call(name)),
      await post(url, message, headers),
    ];
    for (const answer of answers) {
      const got = textOf(answer);
      if (got !== text)
        throw new Error(`${name} should have said ${text}: ${answer.status} ${answer.body.slice(0, 500)}`);
    }
  }
}

function megabytesOf({ sally }: Gate): number {
  try {
    const status = readFileSync(`/proc/${sally.process.pid}/status`, 'utf8');
    return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0; // it is gone, which stillWell says better
  }
}
