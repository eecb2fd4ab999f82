import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createLoginCookies } from '../interactions/cookies.ts';
import { createServerSecrets } from '../secrets.ts';
import { createVisits } from './visit.ts';

const START = 1_800_000_000;

function start(issuer = 'https://gate.example.com') {
  let seconds = START;
  const now = (): number => seconds * 1000;
  const set: string[] = [];
  const response = { appendHeader: (_name: string, value: string) => set.push(value) } as unknown as ServerResponse;
  const visitsOf = (server: string, ...secrets: [Buffer, ...Buffer[]]) =>
    createVisits(createLoginCookies(issuer), createServerSecrets(server, secrets), now);
  return {
    set,
    response,
    visitsOf,
    visits: visitsOf('a/b', Buffer.alloc(32, 1)),
    request: () => ({ headers: { cookie: set.at(-1)?.split(';')[0] } }) as unknown as IncomingMessage,
    wait: (time: number) => {
      seconds += time;
    },
  };
}

describe('a visit to the page of connections', () => {
  it('is known by a cookie that no other host can set, no script read and no other site send', () => {
    const { visits, response, set, request } = start();
    visits.begin(response, 'user', 'Alice');
    expect(set).toEqual([
      expect.stringMatching(/^__Host-sally_account=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=900; Secure$/),
    ]);
    expect(set[0]).not.toContain('user');
    expect(visits.find(request())).toMatchObject({ userId: 'user', name: 'Alice', until: START + 900 });
  });

  it('is over after fifteen minutes, whatever the browser keeps and is told meanwhile', () => {
    const { visits, response, request, wait, set } = start();
    visits.begin(response, 'user', undefined);
    wait(600);
    const visit = visits.find(request());
    if (visit) visits.tell(response, visit, 'ended');
    expect(set.at(-1)).toContain('Max-Age=300');
    expect(visits.find(request())).toMatchObject({ notice: 'ended', csrf: visit?.csrf });
    wait(300);
    expect(visits.find(request())).toBeUndefined();
  });

  it('is read with an older secret, and not with another one or by another server', () => {
    const { visits, visitsOf, response, request } = start();
    visits.begin(response, 'user', undefined);
    const [old, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    expect(visitsOf('a/b', other, old).find(request())?.userId).toBe('user');
    expect(visitsOf('a/b', other).find(request())).toBeUndefined();
    expect(visitsOf('a/c', old).find(request())).toBeUndefined();
  });

  it('has another anti-forgery value each time', () => {
    const { visits, response, request } = start();
    visits.begin(response, 'user', undefined);
    const first = visits.find(request())?.csrf;
    visits.begin(response, 'user', undefined);
    expect(first).toMatch(/^[\w-]{43}$/);
    expect(visits.find(request())?.csrf).not.toBe(first);
  });
});
