import { describe, expect, it } from 'vitest';
import { createLoginPaths } from './paths.ts';

describe('paths of a login', () => {
  it('lie below the path of the issuer', () => {
    const paths = createLoginPaths('https://gate.test/team/one');
    expect(paths.callbackUrl).toBe('https://gate.test/team/one/oauth/callback');
    expect(paths.departure('u-1')).toBe('/team/one/oauth/interaction/u-1/next');
    for (const step of ['arrival', 'consent', 'departure', 'finish'] as const) {
      expect(paths.parse(paths[step]('u-1'))).toEqual({ uid: 'u-1', step });
    }
  });

  it.each(['', '/', '/u/other', '/u/consent/more', '/u/constructor', '/..%2f', `/${'u'.repeat(65)}`, '/u/', '/%0a'])(
    'are nothing else: %j',
    (rest) => {
      const paths = createLoginPaths('http://127.0.0.1:4483');
      expect(paths.parse(`${paths.interaction}${rest}`)).toBeUndefined();
    },
  );
});
