import { describe, expect, it } from 'vitest';
import { keepSessions, type SessionRow } from './kept-sessions.ts';
import { createSessions } from './sessions.ts';

const FIELDS = {
  principal: 'alice',
  owner: 'login',
  revision: '2025-11-25',
  capabilities: { roots: {} },
  info: undefined,
};

/** Two processes with one store. */
function start() {
  let now = 0;
  const kept = new Map<string, SessionRow>();
  const rows = {
    isAway: false,
    async put(id: string, row: SessionRow) {
      if (rows.isAway) throw new Error('away');
      kept.set(id, structuredClone(row));
    },
    get: async (id: string) => kept.get(id),
    remove: async (id: string) => void kept.delete(id),
  };
  const process = () => keepSessions(createSessions({ now: () => now, ended: () => {} }), rows, () => now);
  return { here: process(), there: process(), kept, rows, wait: (ms: number) => (now += ms) };
}

const ignore = (): void => {};

describe('a session', () => {
  it('goes on in another process, with what its client said and chose', async () => {
    const { here, there } = start();
    const session = await here.open(FIELDS);
    session.logLevel = 'warning';
    session.subscriptions.add('file:///a');
    await here.changed(session);
    const adopted: SessionRow[] = [];
    const taken = await there.find(session.id, 'alice', 'another login', (row) => adopted.push(row));
    expect(taken).toMatchObject({ id: session.id, principal: 'alice', owner: 'another login', logLevel: 'warning' });
    expect(taken.capabilities).toEqual({ roots: {} });
    expect(adopted[0]?.subscriptions).toEqual(['file:///a']);
    expect(there.find(session.id, 'alice', 'login', ignore)).toBe(taken); // at once from now on
  });

  it('of somebody else looks like one that does not exist', async () => {
    const { here, there } = start();
    const { id } = await here.open(FIELDS);
    for (const process of [here, there]) {
      const asked = (async () => process.find(id, 'bob', 'login', ignore))();
      await expect(asked).rejects.toMatchObject({ code: 'call.session_unknown' });
    }
    await expect((async () => here.find('unknown', 'bob', 'login', ignore))()).rejects.toMatchObject({
      code: 'call.session_unknown',
    });
  });

  it('that was ended at another process ends here within minutes', async () => {
    const { here, there, wait } = start();
    const session = await here.open(FIELDS);
    await there.end(await there.find(session.id, 'alice', 'login', ignore));
    expect(here.find(session.id, 'alice', 'login', ignore)).toBe(session);
    wait(6 * 60_000);
    await expect(here.find(session.id, 'alice', 'login', ignore)).rejects.toMatchObject({
      code: 'call.session_unknown',
    });
  });

  it('is kept again while it is used, and not with each call', async () => {
    const { here, kept, wait } = start();
    const session = await here.open(FIELDS);
    const first = kept.get(session.id);
    await here.find(session.id, 'alice', 'login', ignore);
    expect(kept.get(session.id)).toBe(first);
    wait(6 * 60_000);
    await here.find(session.id, 'alice', 'login', ignore);
    expect(kept.get(session.id)).not.toBe(first);
  });

  it('is not opened when it cannot be kept', async () => {
    const { here, rows } = start();
    rows.isAway = true;
    await expect((async () => here.open(FIELDS))()).rejects.toThrow('away');
  });

  it('is taken over once by requests that come together', async () => {
    const { here, there } = start();
    const { id } = await here.open(FIELDS);
    const found = await Promise.all([1, 2, 3].map(() => there.find(id, 'alice', 'login', ignore)));
    expect(new Set(found).size).toBe(1);
  });
});
