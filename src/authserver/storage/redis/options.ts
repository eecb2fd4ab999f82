import type { RedisAccountPlan } from '../../../plan/index.ts';

/**
 * The library queues while there is no connection and repeats what was under way when one broke. Both are off: a queue without
 * an end answers nobody, and a command that is carried out twice lies about what it did. `link.ts` does what is left to do.
 */
export const NOTHING_BEHIND_OUR_BACK = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  // The newer protocol logs in with a command that older servers quote in their refusal, password included.
  protocol: 2,
} as const;

export function logIn(account: RedisAccountPlan | undefined): {
  readonly username?: string;
  readonly password?: string;
} {
  if (!account) return {};
  return {
    ...(account.username && { username: account.username.reveal() }),
    password: account.password.reveal(),
  };
}

const BACKOFF_MOST = 500;

export function backoff(times: number): number {
  return Math.min(BACKOFF_MOST, 25 * 2 ** Math.min(times, 10)) * (0.75 + Math.random() / 2);
}
