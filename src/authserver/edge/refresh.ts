import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Provider } from 'oidc-provider';
import type { Answer } from '../library/ask.ts';
import { grantGroup, KIND } from '../storage/kinds.ts';
import type { Records } from '../storage/records.ts';

/** So long the same question gets the same answer, in seconds. */
const GRACE = 10;
const POLL = 25;

type Kept = { readonly underWay: true } | { readonly answer: Answer; readonly successor: string };

export interface RefreshParts {
  readonly provider: Provider;
  readonly records: Records;
}

/** Answers the refresh of a token, `redeem` being what does it. */
export type Refresh = (form: URLSearchParams, headers: object, redeem: () => Promise<Answer>) => Promise<Answer>;

/**
 * A refresh token works once, and a second use ends the login: that is how theft shows. But a client whose answer got lost on the
 * way asks again, and must not lose its login for it. So the identical request gets the identical answer for a moment, as long as
 * nobody has used the new token: nobody gains by it who does not have the old one. Every other second use is for the library,
 * which ends the login.
 */
export function createRefresh({ provider, records }: RefreshParts): Refresh {
  const kept = records.rows<Kept>(KIND.refreshAnswer);

  async function isUsed(refreshToken: string): Promise<boolean | undefined> {
    const found = await provider.RefreshToken.find(refreshToken, { ignoreExpiration: true });
    return found && found.consumed !== undefined;
  }

  /** The answer that somebody was given or is about to be given, here or in another process, if it still may be repeated. */
  async function repeated(question: string): Promise<Answer | undefined> {
    const until = Date.now() + GRACE * 1000;
    let found = await kept.get(question);
    while (found && 'underWay' in found && Date.now() < until) {
      await sleep(POLL);
      found = await kept.get(question);
    }
    if (!found || 'underWay' in found) return undefined;
    return (await isUsed(found.successor)) === false ? found.answer : undefined;
  }

  async function once(question: string, grantId: string, redeem: () => Promise<Answer>): Promise<Answer> {
    const options = { ttl: GRACE, groups: [grantGroup(records, grantId)] };
    if (!(await kept.add(question, { underWay: true }, options))) {
      return (await repeated(question)) ?? (await redeem());
    }
    try {
      const answer = await redeem();
      const successor = answer.status === 200 ? refreshTokenOf(answer) : undefined;
      if (successor === undefined) await kept.remove(question);
      else await kept.put(question, { answer, successor }, options);
      return answer;
    } catch (error) {
      await kept.remove(question);
      throw error;
    }
  }

  return async (form, headers, redeem) => {
    const token = await provider.RefreshToken.find(form.get('refresh_token') ?? '', { ignoreExpiration: true });
    if (token?.grantId === undefined) return await redeem();
    return await once(fingerprint(form, headers), token.grantId, redeem);
  };
}

/** Everything that tells two requests apart: who asks and how he proves it, and what he asks for. */
function fingerprint(form: URLSearchParams, headers: object): string {
  const parts = [...form].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([parts, headers]))
    .digest('base64url');
}

function refreshTokenOf({ body }: Answer): string | undefined {
  const { refresh_token: token } = JSON.parse(body) as { readonly refresh_token?: unknown };
  return typeof token === 'string' ? token : undefined;
}
