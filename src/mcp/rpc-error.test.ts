import { describe, expect, it } from 'vitest';
import { SallyError } from '../base/index.ts';
import { toRpcError } from './rpc-error.ts';

describe('an error, as a client reads it', () => {
  it('has its code, its words and what to do about it', () => {
    const error = new SallyError('outgoing.unavailable', 'corp is away', { hint: 'wait', data: { provider: 'corp' } });
    expect(toRpcError(error)).toEqual({
      code: 5033,
      message: 'corp is away',
      data: { provider: 'corp', code: 'outgoing.unavailable', hint: 'wait' },
    });
  });

  it('names neither the servers of the store nor what has to be set for them', () => {
    const error = new SallyError('storage.unavailable', 'the store at 10.0.0.7:6379 is not available', {
      hint: 'the user name or password is wrong; check aclUserConfig',
    });
    const shown = toRpcError(error);
    expect(shown).toMatchObject({ code: 5035, data: { code: 'storage.unavailable' } });
    expect(shown.message).toContain('Try again in a moment');
    expect(JSON.stringify(shown)).not.toMatch(/10\.0\.0\.7|aclUserConfig/);
  });

  it('of ours that is a bug says nothing but where the log has it', () => {
    expect(toRpcError(new Error('secret'), 'incident-1').message).toBe('internal error (incident-1)');
  });
});
