import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SallyError } from '../../../src/base/index.ts';
import { type AuthServerSetup, startAuthServer } from '../../support/auth-server.ts';
import { eventually } from '../../support/processes.ts';

const grantOf = (accessToken: string) => String(decodeJwt(accessToken).tsid);

async function start(plan = {}, store?: AuthServerSetup['store']) {
  const server = await startAuthServer({ plan, ...(store ? { store } : {}) });
  const client = await server.register();
  const { json } = await server.tokens(client, { scope: 'openid offline_access tools' });
  return { server, client, first: json.refresh_token as string, grant: grantOf(json.access_token) };
}

describe('refresh tokens', () => {
  it('rotate: the new one works, with the scopes that were granted and the login it came from', async () => {
    const { server, client, first, grant } = await start();
    await using _ = server;
    const second = await server.refresh(client, first);
    expect(second.json).toMatchObject({ scope: 'openid offline_access tools', token_type: 'Bearer' });
    expect(second.json.refresh_token).not.toBe(first);
    expect(grantOf(second.json.access_token)).toBe(grant);
    const third = await server.refresh(client, second.json.refresh_token, { scope: 'tools' });
    expect(third.json.scope).toBe('tools');
    expect(decodeJwt(third.json.access_token)).toMatchObject({ name: 'Alice', auth_time: expect.any(Number) });
    expect((await server.refresh(client, third.json.refresh_token)).json.scope).toBe('openid offline_access tools');
    expect(server.logged.filter(({ message }) => message === 'token.refreshed')).toHaveLength(3);
  });

  it('are not for more scopes, another resource or another client', async () => {
    const { server, client, first, grant } = await start();
    await using _ = server;
    expect((await server.refresh(client, first, { scope: 'openid email' })).json.error).toBe('invalid_scope');
    expect((await server.refresh(await server.register(), first)).json.error).toBe('invalid_grant');
    expect(server.core.tokens.isLive(grant)).toBe(true);
    expect((await server.refresh(client, first)).status).toBe(200);
  });

  it('a second use, that is not the same request, ends the login with everything', async () => {
    const { server, client, first, grant } = await start();
    await using _ = server;
    const second = await server.refresh(client, first);
    const stolen = await server.refresh(client, first, { scope: 'tools' });
    expect([stolen.status, stolen.json.error]).toEqual([400, 'invalid_grant']);
    expect(server.core.tokens.isLive(grant)).toBe(false);
    expect((await server.refresh(client, second.json.refresh_token)).json.error).toBe('invalid_grant');
    expect(server.logged.map(({ message }) => message)).toContain('token.reuse_detected');
  });

  it('are given to a client without refresh_token in its grant types by nobody', async () => {
    await using server = await startAuthServer();
    const client = await server.register({ grant_types: ['authorization_code'] });
    const { json } = await server.tokens(client, { scope: 'openid offline_access' });
    expect(json).not.toHaveProperty('refresh_token');
    expect(json.scope).toBe('openid');
  });
});

describe('an answer that got lost', () => {
  it('is given again to the identical request, and the login stands', async () => {
    const { server, client, first, grant } = await start();
    await using _ = server;
    const lost = await server.refresh(client, first);
    const again = await server.refresh(client, first);
    expect(again.status).toBe(200);
    expect(again.json).toEqual(lost.json);
    expect(again.headers['cache-control']).toBe('no-store');
    expect(server.core.tokens.isLive(grant)).toBe(true);
    expect((await server.refresh(client, lost.json.refresh_token)).status).toBe(200);
  });

  it('is one answer for all who ask while it is under way', async () => {
    const { server, client, first, grant } = await start();
    await using _ = server;
    const answers = await Promise.all(Array.from({ length: 8 }, () => server.refresh(client, first)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(server.core.tokens.isLive(grant)).toBe(true);
  });

  it('is one answer also for who sees it before whoever made it knows that it is stored', async () => {
    // As behind sentinels, where a write is answered when the replicas have it, and others can read it before.
    const { server, client, first, grant } = await start({}, (real) => ({
      async set(key, value, ttl) {
        await real.set(key, value, ttl);
        if (key.startsWith('refresh-answer:')) await sleep(200);
      },
    }));
    await using _ = server;
    const answers = await Promise.all(Array.from({ length: 4 }, () => server.refresh(client, first)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(server.core.tokens.isLive(grant)).toBe(true);
    expect((await server.refresh(client, answers[0]?.json.refresh_token)).status).toBe(200);
  });

  it('is not followed by the end of the login when the store did not say that the old token was marked', async () => {
    let marks = 0;
    const { server, client, first, grant } = await start({}, (real) => ({
      async swap(key, ...rest) {
        const isSwapped = await real.swap(key, ...rest);
        if (key.startsWith('RefreshToken:') && ++marks === 1) throw new SallyError('storage.unavailable', 'who knows');
        return isSwapped;
      },
    }));
    await using _ = server;
    const second = await server.refresh(client, first);
    expect(second.status).toBe(200);
    // It is marked again a moment later, and found marked.
    await eventually(
      () => marks,
      (seen) => seen === 2,
    );
    expect(server.core.tokens.isLive(grant)).toBe(true);
    expect((await server.refresh(client, second.json.refresh_token)).status).toBe(200);
    expect(server.logged.map(({ message }) => message)).not.toContain('token.reuse_detected');
  });

  it('is not given again when somebody else got another one for the same token', async () => {
    let isDead = false;
    const { server, client, first, grant } = await start({}, (real) => ({
      // The process dies when its answer is stored and the old token is not marked yet.
      swap: (key, ...rest) =>
        isDead && key.startsWith('RefreshToken:') ? new Promise(() => {}) : real.swap(key, ...rest),
    }));
    await using _ = server;
    isDead = true;
    void server.refresh(client, first).catch(() => {});
    await sleep(300);
    isDead = false;
    expect((await server.refresh(client, first, { scope: 'tools' })).status).toBe(200);
    const again = await server.refresh(client, first);
    expect([again.status, again.json.error]).toEqual([400, 'invalid_grant']);
    expect(server.core.tokens.isLive(grant)).toBe(false);
  });

  it('is not given again once the new token was used: that is reuse', async () => {
    const { server, client, first, grant } = await start();
    await using _ = server;
    const second = await server.refresh(client, first);
    await server.refresh(client, second.json.refresh_token);
    expect((await server.refresh(client, first)).json.error).toBe('invalid_grant');
    expect(server.core.tokens.isLive(grant)).toBe(false);
  });

  it('is not given to another client that knows the token', async () => {
    const { server, client, first, grant } = await start();
    await using _ = server;
    await server.refresh(client, first);
    const other = await server.refresh(await server.register(), first);
    expect(other.json.error).toBe('invalid_grant');
    expect(server.core.tokens.isLive(grant)).toBe(true);
  });

  it('of two different requests at the same time at most one gets tokens, and the login ends', async () => {
    const { server, client, first, grant } = await start();
    await using _ = server;
    const answers = await Promise.all([
      server.refresh(client, first),
      server.refresh(client, first, { scope: 'tools' }),
    ]);
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(server.core.tokens.isLive(grant)).toBe(false);
  });

  describe('as time passes', () => {
    afterEach(() => {
      vi.useRealTimers();
    });

    it('is kept for ten seconds, then asking again is reuse', async () => {
      const { server, client, first, grant } = await start();
      await using _ = server;
      await server.refresh(client, first);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 9_000 });
      expect((await server.refresh(client, first)).status).toBe(200);
      vi.setSystemTime(Date.now() + 2_000);
      expect((await server.refresh(client, first)).json.error).toBe('invalid_grant');
      expect(server.core.tokens.isLive(grant)).toBe(false);
    });

    it('the login has an absolute end, however often the token was renewed', async () => {
      const lifespans = { accessToken: 600, refreshToken: 3600, login: 9000, authCode: 60 };
      const { server, client, first, grant } = await start({ lifespans });
      await using _ = server;
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
      let token = first;
      for (let hours = 1; hours <= 2; hours++) {
        vi.setSystemTime(Date.now() + 3_500_000);
        const { status, json } = await server.refresh(client, token);
        expect(status).toBe(200);
        token = json.refresh_token;
      }
      vi.setSystemTime(Date.now() + 2_100_000);
      expect((await server.refresh(client, token)).json.error).toBe('invalid_grant');
      expect(server.core.tokens.isLive(grant)).toBe(false);
    });

    it('a refresh token that nobody used runs out', async () => {
      const lifespans = { accessToken: 600, refreshToken: 3600, login: 9000, authCode: 60 };
      const { server, client, first, grant } = await start({ lifespans });
      await using _ = server;
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_601_000 });
      expect((await server.refresh(client, first)).json.error).toBe('invalid_grant');
      expect(server.core.tokens.isLive(grant)).toBe(true);
    });
  });
});
