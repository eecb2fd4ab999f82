import type { Log } from '../../base/index.ts';
import { jwtHeader, type KeyLookup, verifyJwt } from '../../oauth/index.ts';
import type { AuthServerPlan } from '../../plan/index.ts';
import type { Answer, Ask } from '../library/ask.ts';
import { nameOfGrant } from '../library/audit.ts';
import { PATHS } from '../library/provider.ts';
import { checked, formQuestion } from './serve.ts';

export interface OwnTokenParts {
  readonly ask: Ask;
  readonly keys: KeyLookup;
  isLive(grantId: string): boolean | Promise<boolean>;
  /** Ends a login, with everything that came of it. */
  revoke(grantId: string): Promise<void>;
  readonly log: Log;
  readonly now: () => number;
}

type Headers = Readonly<Record<string, string>>;
type Claims = Readonly<Record<string, unknown>>;

/** A token that certainly is none: the library says what it thinks of the client, and nothing happens. */
const NO_TOKEN = 'none';

/**
 * The library revokes and introspects refresh tokens, but refuses JWTs. Those are ours to answer for: the library authenticates
 * the client, and we look at the token.
 */
export function createOwnTokens(plan: AuthServerPlan, { ask, keys, isLive, revoke, log, now }: OwnTokenParts) {
  async function claimsOf(token: string): Promise<Claims | undefined> {
    for (const audience of plan.resources) {
      const verdict = await verifyJwt(token, { issuer: plan.issuer, audience, keys, types: 'access-token', now });
      if (verdict.ok) return verdict.token.claims;
    }
    return undefined;
  }

  /** What the library answers, or the client and the claims when it is for us to answer. */
  async function look(path: string, form: URLSearchParams, headers: Headers) {
    const token = form.get('token') ?? '';
    const isJwt = jwtHeader(token) !== undefined;
    if (isJwt) form.set('token', NO_TOKEN);
    const answer = checked(await ask(formQuestion(path, form, headers)), log);
    const claims = isJwt && answer.status === 200 ? await claimsOf(token) : undefined;
    return { answer, claims };
  }

  return {
    /** RFC 7009: the login behind the token ends. Whose token it is not gets the same answer, and nothing happens. */
    async revoke(form: URLSearchParams, headers: Headers): Promise<Answer> {
      const { answer, claims } = await look(PATHS.revocation, form, headers);
      const grantId = claims?.tsid;
      if (typeof grantId === 'string' && claims?.client_id === answer.clientId) {
        await revoke(grantId);
        log.info('grant.revoked', { server: plan.name, client: answer.clientId, grant: nameOfGrant(grantId) });
      }
      return answer;
    },

    /** RFC 7662, for the clients that the library lets ask. */
    async introspect(form: URLSearchParams, headers: Headers): Promise<Answer> {
      const { answer, claims } = await look(PATHS.introspection, form, headers);
      if (!claims || !isConfidential(plan, answer.clientId)) return answer;
      const { tsid, ...shown } = claims;
      const active = typeof tsid === 'string' && (await isLive(tsid));
      const tokenType = claims.cnf === undefined ? 'Bearer' : 'DPoP';
      return { ...answer, body: JSON.stringify(active ? { active, ...shown, token_type: tokenType } : { active }) };
    },
  };
}

function isConfidential({ clients }: AuthServerPlan, clientId: string | undefined): boolean {
  return clients.some(({ id, secret }) => id === clientId && secret !== undefined);
}
