import { describe, expect, it } from 'vitest';
import { createConnectLinks } from './connect-links.ts';

function start() {
  let now = 0;
  let count = 0;
  const behaviour = { isAway: false };
  const connect = createConnectLinks(
    async (grantId, provider) => {
      if (behaviour.isAway) throw new Error('away');
      return `${grantId} ${provider} ${++count}`;
    },
    () => now,
  );
  return { connect, behaviour, wait: (ms: number) => (now += ms) };
}

describe('a link to connect an account', () => {
  it('is the same for calls that come shortly after each other, and another one later', async () => {
    const { connect, wait } = start();
    expect(await connect('grant', 'hub')).toBe('grant hub 1');
    expect(await connect('grant', 'hub')).toBe('grant hub 1');
    wait(11_000);
    expect(await connect('grant', 'hub')).toBe('grant hub 2');
  });

  it('is never that of another login or provider', async () => {
    const { connect } = start();
    const links = await Promise.all([connect('one', 'hub'), connect('other', 'hub'), connect('one', 'corp')]);
    expect(links).toEqual(['one hub 1', 'other hub 2', 'one corp 3']);
  });

  it('that could not be made is tried again at once', async () => {
    const { connect, behaviour } = start();
    behaviour.isAway = true;
    await expect(connect('grant', 'hub')).rejects.toThrow('away');
    behaviour.isAway = false;
    expect(await connect('grant', 'hub')).toBe('grant hub 1');
  });
});
