import type { Adapter, AdapterPayload } from 'oidc-provider';

/** Rows beyond this many make room: expired ones first, then the oldest. */
const MOST_ROWS = 10_000;

interface Row {
  readonly payload: AdapterPayload;
  readonly expiresAt: number;
}

/** What an OpenID provider has to remember, kept until the process ends. */
export function memoryAdapter(now: () => number = Date.now): (model: string) => Adapter {
  const rows = new Map<string, Row>();

  function makeRoom(): void {
    if (rows.size < MOST_ROWS) return;
    for (const [key, row] of rows) if (row.expiresAt <= now()) rows.delete(key);
    for (const key of rows.keys()) if (rows.size >= MOST_ROWS) rows.delete(key);
  }

  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`;
    const read = (key: string): AdapterPayload | undefined => {
      const row = rows.get(key);
      return row && row.expiresAt > now() ? row.payload : undefined;
    };
    const ours = () => [...rows.keys()].filter((key) => key.startsWith(`${model}:`));
    const findBy = (holds: (payload: AdapterPayload) => boolean) =>
      ours()
        .map(read)
        .find((payload) => payload !== undefined && holds(payload));
    return {
      async upsert(id, payload, expiresIn) {
        makeRoom();
        rows.set(keyOf(id), { payload, expiresAt: expiresIn ? now() + expiresIn * 1000 : Number.POSITIVE_INFINITY });
      },
      find: async (id) => read(keyOf(id)),
      findByUid: async (uid) => findBy((payload) => payload.uid === uid),
      findByUserCode: async (code) => findBy((payload) => payload.userCode === code),
      async consume(id) {
        const row = rows.get(keyOf(id));
        if (row) rows.set(keyOf(id), { ...row, payload: { ...row.payload, consumed: Math.floor(now() / 1000) } });
      },
      destroy: async (id) => void rows.delete(keyOf(id)),
      async revokeByGrantId(grantId) {
        for (const key of ours()) if (rows.get(key)?.payload.grantId === grantId) rows.delete(key);
      },
    };
  };
}
