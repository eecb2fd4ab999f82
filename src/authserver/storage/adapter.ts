import { createHash } from 'node:crypto';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { codeOf } from '../../base/index.ts';
import type { ClientRows } from './clients.ts';
import { grantGroup, KIND } from './kinds.ts';
import type { Found, Records, RowGroup } from './records.ts';
import type { Rotation } from './rotation.ts';

/** For models that the library saves without a lifetime, of which we use none. */
const SHORTEST = 1;

export interface AdapterParts {
  readonly records: Records;
  readonly clients: ClientRows;
  /** Ends a login, with everything that came of it. */
  readonly endGrant: (grantId: string) => Promise<void>;
  readonly rotation: Pick<Rotation, 'defer'>;
  /** Something was used twice at the same time, and its grant has ended for it. */
  readonly reused: (grantId: string) => void;
}

/** How the library keeps its models in our records. */
export function createAdapters({ records, clients, ...grants }: AdapterParts): (model: string) => Adapter {
  return (model) => {
    switch (model) {
      case 'Client':
        return clientAdapter(clients);
      case 'Session':
        return NO_SESSIONS;
      case 'ReplayDetection':
        return {
          ...modelAdapter(records, model, grants),
          upsert: (id, payload, ttl) => remember(records, id, payload, ttl),
        };
      default:
        return modelAdapter(records, model, grants);
    }
  };
}

/** What was used, and for which other token, if for one. */
type Used = AdapterPayload & { readonly usedFor?: string };

type GrantEnds = Pick<AdapterParts, 'endGrant' | 'reused' | 'rotation'>;

function modelAdapter(records: Records, model: string, { endGrant, reused, rotation }: GrantEnds): Adapter {
  const rows = records.rows<Used>(model);

  async function mark(id: string, { value, version }: Found<Used>, successor: string | undefined): Promise<boolean> {
    const consumed = Math.floor(Date.now() / 1000);
    const used = { ...value, consumed, ...(successor === undefined ? {} : { usedFor: fingerprint(successor) }) };
    const ttl = atLeast((value.exp ?? consumed) - consumed);
    return await rows.swap(version, used, { ttl, groups: groupsOf(records, model, id, value) });
  }

  return {
    async upsert(id, payload, expiresIn) {
      await roomFor(() =>
        rows.put(id, payload, { ttl: atLeast(expiresIn), groups: groupsOf(records, model, id, payload) }),
      );
    },
    find: (id) => rows.get(id),
    // Only sessions and device codes are looked up like this, and there are none.
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    async consume(id) {
      const found = await rows.find(id);
      if (found && model === KIND.refreshToken && rotation.defer((successor) => use(id, found, successor))) return;
      await use(id, found);
    },
    destroy: (id) => rows.remove(id),
    revokeByGrantId: endGrant,
  };

  async function use(id: string, found: Found<Used> | undefined, successor?: string): Promise<void> {
    if (found && !found.value.consumed && (await mark(id, found, successor))) return;
    // Nobody else was here: it is marked for this very successor, by whoever repeated our answer, or by an earlier try of ours.
    if (successor !== undefined && (await rows.get(id))?.usedFor === fingerprint(successor)) return;
    // RFC 6749 §4.1.2 and RFC 9700 §2.2.2: two parties hold what only one may have, so neither keeps what came of it.
    const grantId = found?.value.grantId;
    if (grantId !== undefined) {
      await endGrant(grantId);
      reused(grantId);
    }
    throw new errors.InvalidGrant('it was consumed by somebody else at the same time');
  }
}

function fingerprint(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function groupsOf(records: Records, model: string, id: string, payload: AdapterPayload): readonly RowGroup[] {
  if (model === KIND.grant) return [grantGroup(records, id)];
  return payload.grantId === undefined ? [] : [grantGroup(records, payload.grantId)];
}

function clientAdapter(clients: ClientRows): Adapter {
  return {
    upsert(id, payload) {
      // The library saves its default with the rest. Ours follows the signing key, which turns while clients stay.
      const { id_token_signed_response_alg: _default, ...stated } = payload as Record<string, unknown>;
      return roomFor(() => clients.register(id, stated as AdapterPayload));
    },
    find: (id) => clients.find(id),
    destroy: (id) => clients.remove(id),
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    consume: async () => undefined,
    revokeByGrantId: async () => undefined,
  };
}

/**
 * A browser has no session with us: one would let the next client through without a visit to the providers, whose tokens belong
 * to the grant of one client. What the library wants to keep is forgotten at once.
 */
const NO_SESSIONS: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
};

/** The library looks whether a proof was seen and then saves it; of two that come together only one may be the first. */
async function remember(records: Records, id: string, payload: AdapterPayload, ttl?: number): Promise<void> {
  const isNew = await roomFor(() =>
    records.rows<AdapterPayload>('ReplayDetection').add(id, payload, { ttl: atLeast(ttl) }),
  );
  if (!isNew) throw new errors.InvalidDpopProof('the proof was used before');
}

async function roomFor<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (codeOf(error) !== 'storage.full') throw error;
    throw new errors.TemporarilyUnavailable('too many logins are under way, try again later', { cause: error });
  }
}

function atLeast(ttl: number | undefined): number {
  return Math.max(SHORTEST, Math.ceil(ttl ?? SHORTEST));
}
