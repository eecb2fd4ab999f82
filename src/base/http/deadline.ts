import { SallyError } from '../errors.ts';
import type { OnStart } from './client.ts';

/** Ends a request that is not over in time, in milliseconds. */
export function withDeadline(url: URL, within: number, onStart: OnStart | undefined): OnStart {
  return (abort) => {
    const late = (): void => abort(new SallyError('fetch.timeout', `${url.origin} did not answer in time`));
    const timer = setTimeout(late, within);
    const over = onStart?.(abort);
    return () => {
      clearTimeout(timer);
      over?.();
    };
  };
}
