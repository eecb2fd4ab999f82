import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Boundaries, startBoundaries } from '../support/boundaries.ts';
import { type ScreenBrowser, startBrowser } from '../support/browser.ts';
import type { Caller } from '../support/caller.ts';
import { createTestBrowser, type TestBrowser, type Visit } from '../support/cookie-jar.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { eventually } from '../support/processes.ts';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.ts';

let browser: ScreenBrowser;
let corp: IdentityProvider;
let hub: IdentityProvider;
let notes: RecordingServer;
let code: RecordingServer;
let gate: Boundaries;
let address: string;

const USERS = Object.fromEntries(
  ['alice', 'bob', 'carol'].map((id) => {
    const name = `${id[0]?.toUpperCase()}${id.slice(1)} Example`;
    return [id, { name, email: `${id}@example.com`, emailVerified: true }];
  }),
);

beforeAll(async () => {
  [browser, corp, hub, notes, code] = await Promise.all([
    startBrowser(),
    startIdentityProvider({ name: 'corp', users: USERS }),
    startIdentityProvider({ name: 'hub', users: USERS }),
    startRecordingServer({ era: 'modern' }),
    startRecordingServer({ era: 'modern' }),
  ]);
  gate = await startBoundaries({
    providers: { corp, hub },
    backends: {
      notes: { server: notes, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'corp' } } },
      code: { server: code, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'hub' } } },
    },
  });
  address = `${gate.issuer}/oauth/connections`;
});

afterAll(async () => {
  for (const one of [gate, browser, notes, code, corp, hub]) await one?.[Symbol.asyncDispose]();
});

/** As a person does: first the mouse comes to the page, then it clicks. */
async function press(page: Page, name: string, where: Page | Locator = page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).hover();
  await page.waitForTimeout(500);
  await where.getByRole('button', { name, exact: true }).click();
}

const buttonOf = (user: string): string => `Log in as ${USERS[user]?.name}`;

async function signIn(page: Page, user: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('heading', { name: 'Log in at corp' }).waitFor();
  await press(page, buttonOf(user));
  await page.getByRole('heading', { name: 'Your connections' }).waitFor();
  await page.getByText(`You are ${USERS[user]?.name}.`).waitFor();
}

/** The part of the page about one login. Those used last come first. */
const loginAt = (page: Page, index: number) => page.locator('section.login').nth(index);
const connectionIn = (page: Page, name: string, index = 0) =>
  loginAt(page, index)
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { name: `${name} at` }) });

const textOf = async (where: Locator): Promise<string> => (await where.textContent()) ?? '';
const stateOf = (page: Page, name: string): Promise<string> => textOf(connectionIn(page, name).locator('.state'));

describe('the page of connections, in Chromium', () => {
  it('asks who it is, and shows each provider with its account, scopes, servers and last use', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('code');
    await browser.visit({}, async (page) => {
      await signIn(page, 'alice');
      const text = await textOf(loginAt(page, 0));
      expect(text).toContain('Test');
      expect(text).toMatch(/Let in a moment ago, last used a moment ago, ends in \d+ days/);
      const hubText = await textOf(connectionIn(page, 'hub'));
      expect(hubText).toMatch(/Account\s*alice@example\.com/);
      expect(hubText).toMatch(/Serves\s*code/);
      expect(hubText).toMatch(/Scopes\s*openid\s+profile\s+email/);
      expect(hubText).toContain('Connected a moment ago, last used a moment ago.');
      expect([await stateOf(page, 'corp'), await stateOf(page, 'hub')]).toEqual(['Connected', 'Connected']);
    });
  });

  it('disconnects one provider: its tokens are revoked, the next call needs a login, others go on; and connects it again', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('code');
    const [before, atCorp] = [hub, corp].map((provider) => provider.accessTokenOf('alice')) as [string, string];
    await browser.visit({}, async (page) => {
      await signIn(page, 'alice');
      await connectionIn(page, 'hub').getByText('Disconnect…').click();
      await loginAt(page, 0).getByText('Test cannot use code until you connect hub again.').waitFor();
      await press(page, 'Disconnect hub', loginAt(page, 0));
      await page.getByRole('status').getByText('Disconnected.').waitFor();
      expect(await stateOf(page, 'hub')).toBe('Not connected');

      const refused = await alice.call('code_whoami');
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toContain('error=');
      expect((await alice.seenBy('notes')).authorization).toBe(`Bearer ${atCorp}`);
      await eventually(
        () => hub.honours(before),
        (isGood) => !isGood,
      );

      await page.reload();
      expect(await page.getByRole('status').count()).toBe(0); // it was told once
      await press(page, 'Connect hub', loginAt(page, 0));
      await page.getByRole('heading', { name: 'Log in at corp' }).waitFor();
      await press(page, buttonOf('alice'));
      await page.getByRole('heading', { name: 'Log in at hub' }).waitFor();
      await press(page, buttonOf('alice'));
      await page.getByRole('heading', { name: 'Your connections' }).waitFor(); // and back, by itself
      expect(await stateOf(page, 'hub')).toBe('Connected');
    });
    const after = hub.accessTokenOf('alice');
    expect(after).not.toBe(before);
    expect((await alice.seenBy('code')).authorization).toBe(`Bearer ${after}`);
  });

  it('does not connect the account of another user, who logs in at the first provider', async () => {
    const alice = await gate.login('alice');
    await browser.visit({}, async (page) => {
      await signIn(page, 'alice');
      await press(page, 'Reconnect hub', loginAt(page, 0));
      await press(page, buttonOf('bob'));
      await page.getByRole('heading', { name: 'This is for another user' }).waitFor();
      await page.getByRole('link', { name: 'Back to your connections' }).click();
      await page.getByText('You are Alice Example.').waitFor();
    });
    await alice.seenBy('code');
  });

  it('ends a login: its token is refused at once, its refresh token too, and both providers are told', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('notes');
    const tokens = [corp, hub].map((provider) => [provider, provider.accessTokenOf('alice')] as const);
    await browser.visit({}, async (page) => {
      await signIn(page, 'alice');
      const login = loginAt(page, 0);
      const name = await textOf(login.locator('code').first());
      await login.getByText('End this login…').click();
      await press(page, 'End the login of Test', login);
      await page.getByRole('status').getByText('The login has ended.').waitFor();
      expect(await page.locator('section.login code').allInnerTexts()).not.toContain(name);
    });
    expect((await alice.call('notes_whoami')).status).toBe(401);
    await expect(alice.refreshed()).rejects.toThrow('invalid_grant');
    for (const [provider, token] of tokens) {
      await eventually(
        () => provider.honours(token),
        (isGood) => !isGood,
      );
    }
  });

  it('shows nothing to somebody who never logged in, and leaves when asked to', async () => {
    await browser.visit({}, async (page, context) => {
      await signIn(page, 'carol');
      await page.getByText('No application has a login of yours here.').waitFor();
      await press(page, 'Leave now');
      await page.getByRole('heading', { name: 'You have left' }).waitFor();
      expect(await accountCookies(context)).toEqual([]);
      await page.goto(address);
      await page.getByRole('heading', { name: 'Log in at corp' }).waitFor();
    });
  });

  it('is reached by a link of another site without another login, and takes no form of it', async () => {
    const alice = await gate.login('alice');
    await browser.visit({}, async (page, context) => {
      await signIn(page, 'alice');
      const fields = await fieldsOf(page);
      const [cookie] = await accountCookies(context);
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
      // What another site could write if it knew everything that is on the page.
      await using evil = await startSite(
        `<a href="${address}">go</a><form method="post" action="${address}">
         <input name="csrf" value="${fields.csrf}"><input name="login" value="${fields.login}">
         <button name="do" value="end">win</button></form>`,
      );
      await page.goto(evil.url);
      await page.getByRole('link', { name: 'go' }).click();
      await page.getByText('You are Alice Example.').waitFor();
      await page.goto(evil.url);
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.url() === address),
        page.getByRole('button', { name: 'win' }).click(),
      ]);
      expect(answer.status()).toBe(403);
    });
    await alice.seenBy('notes');
  });
});

describe('the page of connections, for an attacker', () => {
  let alice: Caller;
  beforeAll(async () => {
    alice = await gate.login('alice');
  });

  async function visitAs(user: string): Promise<{ readonly mine: TestBrowser; readonly page: Visit }> {
    const mine = createTestBrowser();
    const question = await mine.travel(address);
    return { mine, page: await mine.submit(question, { user }) };
  }

  it('shows no login of another user, and does nothing with one whose name is known', async () => {
    const bob = await gate.login('bob');
    const hers = await visitAs('alice');
    const his = await visitAs('bob');
    const names = namesIn(hers.page);
    expect(names.length).toBeGreaterThan(0);
    expect(namesIn(his.page)).toHaveLength(1);
    for (const name of names) expect(his.page.body).not.toContain(name);
    expect(his.page.body).not.toContain('alice@example.com');
    for (const action of ['end', 'disconnect', 'connect']) {
      const fields = { do: action, login: names[0] as string, provider: 'hub' };
      const page = await his.mine.submit(his.page, fields);
      expect(page.body).toContain('That login is over, or was never yours.');
    }
    const { json } = await alice.call('code_whoami');
    expect(json.result).toBeDefined();
    await bob.seenBy('code');
  });

  it.each([
    ['no', ''],
    ['another', 'x'.repeat(43)],
  ])('refuses a form with %s anti-forgery value', async (_, csrf) => {
    const { mine, page } = await visitAs('alice');
    const answer = await mine.submit(page, { csrf, do: 'end', login: namesIn(page)[0] as string });
    expect(answer.status).toBe(403);
    expect(answer.body).toContain('This form is out of date');
    await alice.seenBy('notes');
  });

  it('refuses the anti-forgery value of another visit, and a form without a visit', async () => {
    const his = await visitAs('bob');
    const hers = await visitAs('alice');
    const fields = { do: 'end', login: namesIn(hers.page)[0] as string };
    const csrf = /name="csrf" value="([^"]+)"/.exec(his.page.body)?.[1] ?? '';
    expect((await hers.mine.submit(hers.page, { ...fields, csrf })).status).toBe(403);
    hers.mine.cookies = hers.mine.cookies.filter(({ name }) => name !== 'sally_account');
    const page = await hers.mine.open(address);
    expect(page.body).toContain('You are sent to corp to show who you are.');
    const without = await createTestBrowser().submit(hers.page, fields, { until: () => true });
    expect(without.url.pathname).toBe('/oauth/connections'); // leads on to the login, nothing else
    await alice.seenBy('notes');
  });

  it('takes no cookie that was changed, and none of a login for it', async () => {
    const { mine } = await visitAs('alice');
    const asked = 'You are sent to corp to show who you are.';
    const changed = (value: string): void => {
      mine.cookies = mine.cookies.map((one) => (one.name === 'sally_account' ? { ...one, value } : one));
    };
    const { value } = mine.cookies.find(({ name }) => name === 'sally_account') as { value: string };
    expect((await mine.open(address)).body).not.toContain(asked);
    for (const forged of [`${value.slice(0, -4)}AAAA`, '', 'e30', JSON.stringify({ userId: 'x', until: 9e9 })]) {
      changed(forged);
      expect((await mine.open(address)).body).toContain(asked);
    }
    expect((await alice.browser.open(address)).body).toContain(asked);
  });

  it('the visit lets no client in: authorize asks at every provider all the same', async () => {
    const { mine } = await visitAs('alice');
    const url = new URL(`${gate.issuer}/oauth/authorize`);
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: alice.clientId,
      redirect_uri: 'http://127.0.0.1:9/callback',
      resource: gate.url,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    }).toString();
    const page = await mine.travel(url);
    expect(page.url.origin).toBe(corp.issuer);
    expect(page.body).toContain('Log in at corp');
  });

  it('an answer of the provider that comes back in another browser opens nothing', async () => {
    const mine = createTestBrowser();
    const question = await mine.travel(address);
    const back = await mine.submit(
      question,
      { user: 'alice' },
      { until: ({ pathname }) => pathname === '/oauth/callback' },
    );
    const victim = createTestBrowser();
    const page = await victim.travel(back.url);
    expect(page.body).toContain('This login began in another browser');
    expect(victim.cookies.map(({ name }) => name)).not.toContain('sally_account');
    expect((await mine.travel(back.url)).body).toContain('This login is over');
  });

  it('a visit is told in the log, without a token', async () => {
    const stderr = gate.replicas[0].sally.stderr();
    await visitAs('alice');
    const said = gate.replicas[0].sally.stderr().slice(stderr.length);
    expect(said).toContain('account.opened');
    expect(said).not.toContain(corp.accessTokenOf('alice'));
  });

  it.each(['PUT', 'DELETE'])('knows no %s', async (method) => {
    expect((await fetch(address, { method })).status).toBe(405);
  });
});

function namesIn({ body }: Visit): readonly string[] {
  return [...body.matchAll(/id="login-([0-9a-f]{16})"/g)].map((match) => match[1] as string);
}

async function accountCookies(context: BrowserContext) {
  return (await context.cookies()).filter(({ name }) => name.endsWith('sally_account'));
}

async function fieldsOf(page: Page): Promise<{ readonly csrf: string; readonly login: string }> {
  const value = (name: string) => page.locator(`input[name=${name}]`).first().inputValue();
  return { csrf: await value('csrf'), login: await value('login') };
}

/** A page of somebody else: for a browser, `localhost` and `127.0.0.1` are two sites. */
async function startSite(html: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html>${html}`),
  );
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
