import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { errors, type Provider } from 'oidc-provider';
import type { Answer } from '../library/ask.ts';
import { OAuthError } from '../oauth-error.ts';
import { grantGroup, KIND } from '../storage/kinds.ts';
import type { Records, RowOptions } from '../storage/records.ts';
import type { Rotation } from '../storage/rotation.ts';

/** So long the same question gets the same answer, in seconds. */
const GRACE = 10;
const POLL = 25;

interface Given {
  readonly answer: Answer;
  /** The refresh token in it. */
  readonly successor: string;
}

type Kept = { readonly underWay: true } | Given;

export interface RefreshParts {
  readonly provider: Provider;
  readonly records: Records;
  readonly rotation: Pick<Rotation, 'run'>;
}

/** Answers the refresh of a token, `redeem` being what does it. */
export type Refresh = (form: URLSearchParams, headers: object, redeem: () => Promise<Answer>) => Promise<Answer>;

/**
 * A refresh token works once, and a second use ends the login: that is how theft shows. But a client whose answer got lost on the
 * way asks again, and must not lose its login for it. So the identical request gets the identical answer for a moment, as long as
 * nobody has used the new token: nobody gains by it who does not have the old one. Every other second use is for the library,
 * which ends the login.
 */
export function createRefresh({ provider, records, rotation }: RefreshParts): Refresh {
  const kept = records.rows<Kept>(KIND.refreshAnswer);

  async function isUsed(refreshToken: string): Promise<boolean | undefined> {
    const found = await provider.RefreshToken.find(refreshToken, { ignoreExpiration: true });
    return found && found.consumed !== undefined;
  }

  /** The answer that somebody was given or is about to be given, here or in another process, if it still may be repeated. */
  async function repeated(question: string): Promise<Given | undefined> {
    const until = Date.now() + GRACE * 1000;
    let found = await kept.get(question);
    while (found && 'underWay' in found && Date.now() < until) {
      await sleep(POLL);
      found = await kept.get(question);
    }
    if (!found || 'underWay' in found) return undefined;
    return (await isUsed(found.successor)) === false ? found : undefined;
  }

  /** From here on the answer is the client's, whatever becomes of us: it is stored, and only then the old token is used up. */
  function rotate(question: string, options: RowOptions, redeem: () => Promise<Answer>): Promise<Answer> {
    return rotation.run(async (markUsed) => {
      const answer = await redeem();
      const successor = answer.status === 200 ? refreshTokenOf(answer) : undefined;
      if (successor === undefined) {
        await kept.remove(question).catch(() => {}); // it does not live long
        return answer;
      }
      // Without it a lost answer cannot be repeated; the answer itself is good.
      await kept.put(question, { answer, successor }, options).catch(() => {});
      await markUsed(successor).catch(refuseReuse);
      return answer;
    });
  }

  return async (form, headers, redeem) => {
    const value = form.get('refresh_token') ?? '';
    const token = await provider.RefreshToken.find(value, { ignoreExpiration: true });
    if (token?.grantId === undefined) return await redeem();
    const question = fingerprint(form, headers);
    const options = { ttl: GRACE, groups: [grantGroup(records, token.grantId)] };
    const isFirst = await kept.add(question, { underWay: true }, options);
    const given = isFirst ? undefined : await repeated(question);
    if (!given) return await rotate(question, options, redeem);
    // Whoever gave it may have died before he came to that, or is about to: it is marked for the same token, by whichever of us.
    const marked = rotation.run(async (markUsed) => {
      await token.consume();
      await markUsed(given.successor);
    });
    await marked.catch(refuseReuse);
    return given.answer;
  };
}

/** The library's error, where the library does not hear it. */
function refuseReuse(error: unknown): never {
  if (error instanceof errors.InvalidGrant) throw new OAuthError(400, 'invalid_grant', 'grant request is invalid');
  throw error;
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
