import { SallyError } from '../base/index.ts';

/** Whether a token is good cannot be found out now. That is nobody's login to renew, so it is never a 401. */
export function unavailable(what: string, cause?: unknown): SallyError {
  const message = 'tokens cannot be checked at the moment, try again later';
  return new SallyError('incoming.unavailable', message, { cause: new Error(what, { cause }) });
}
