import { describe, expect, it, vi } from 'vitest';
import { Secret } from '../base/index.ts';
import type { Identity } from './call.ts';
import type { Incoming } from './clients/index.ts';
import { createStanding } from './standing.ts';

function streamOf(identity: Identity) {
  const listeners: (() => void)[] = [];
  const stream = {
    isOpen: true,
    end() {
      stream.isOpen = false;
      for (const listener of listeners) listener();
    },
    onClose: (listener: () => void) => void listeners.push(listener),
  };
  return { stream, incoming: { headers: {}, identity, outlet: stream } as unknown as Incoming };
}

function caller(grant: string, lives = 60 * 60_000): Identity {
  return {
    kind: 'user',
    issuer: 'https://gate.test',
    subject: 'alice',
    scopes: [],
    claims: {},
    expiresAt: Date.now() + lives,
    grant,
    token: new Secret('token'),
  };
}

describe('a stream that stays open', () => {
  it('ends with its login, and with no other', () => {
    const standing = createStanding(Date.now);
    const [one, again, other, nobody] = [caller('a'), caller('a'), caller('b'), { kind: 'anonymous' } as const].map(
      streamOf,
    );
    for (const each of [one, again, other, nobody]) standing.watch(each?.incoming as Incoming);
    standing.end('a');
    expect([one, again, other, nobody].map((each) => each?.stream.isOpen)).toEqual([false, false, true, true]);
    standing.end('unknown');
  });

  it('ends with its token, and the clocks may differ a little', () => {
    vi.useFakeTimers();
    try {
      const standing = createStanding(Date.now);
      const { stream, incoming } = streamOf(caller('a', 10_000));
      standing.watch(incoming);
      vi.advanceTimersByTime(9_000);
      expect(stream.isOpen).toBe(true);
      vi.advanceTimersByTime(120_000);
      expect(stream.isOpen).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });
});
