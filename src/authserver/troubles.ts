import { problemOf, type Upstream, UpstreamError, type UpstreamStatus } from '../oauth/upstream/index.ts';
import { isAboutUs } from './vault/index.ts';

/**
 * A provider that remembers what last went wrong with it, until something goes well: for whoever wants to know why users cannot
 * log in. What concerns one user only, such as a login that is over, is no trouble of the provider.
 */
export function withTroubles(upstream: Upstream): Upstream {
  let trouble: UpstreamError | undefined;

  async function watched<T>(work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      trouble = undefined;
      return result;
    } catch (error) {
      if (error instanceof UpstreamError && isTrouble(error)) trouble = error;
      throw error;
    }
  }

  return {
    ...upstream,
    redeem: (callback, leg) => watched(upstream.redeem(callback, leg)),
    refresh: (renewable) => watched(upstream.refresh(renewable)),
    status(): UpstreamStatus {
      const status = upstream.status();
      if (status.state === 'unavailable' || !trouble) return status;
      return { name: upstream.name, state: 'unavailable', problem: problemOf(trouble) };
    },
  };
}

function isTrouble(error: UpstreamError): boolean {
  return error.transient || error.code === 'upstream.answer_invalid' || isAboutUs(error);
}
