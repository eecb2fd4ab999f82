import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Login, prepareLogin } from '../../examples/client/login.ts';
import { type ScreenBrowser, startBrowser } from '../support/browser.ts';
import { type HttpMcpServer, startHttpMcpServer } from '../support/http-mcp-server.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { type LoginGateway, startLoginGateway } from '../support/login-gateway.ts';
import { type OAuth2Provider, startOAuth2Provider } from '../support/oauth2-provider.ts';

/** An MCP client that was sent away to log in. */
interface Waiting extends AsyncDisposable {
  /** Where its user has to go. */
  readonly address: string;
  /** The names of the tools, once the user is back. */
  tools(): Promise<string[]>;
  readonly login: Login;
}

describe('a login in Chromium, through two providers', () => {
  let browser: ScreenBrowser;
  let corp: IdentityProvider;
  let hub: OAuth2Provider;
  let backend: HttpMcpServer;
  let gateway: LoginGateway;
  beforeAll(async () => {
    [browser, corp, hub, backend] = await Promise.all([
      startBrowser(),
      startIdentityProvider({ name: 'corp' }),
      startOAuth2Provider({ name: 'hub' }),
      startHttpMcpServer(),
    ]);
    gateway = await startLoginGateway({ providers: { corp, hub }, backends: { notes: backend.url } });
  });
  afterAll(async () => {
    for (const one of [gateway, browser, corp, hub, backend]) await one[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    corp.faults.tokenStatus = 0;
  });

  async function startClient(): Promise<Waiting> {
    let address = '';
    const login = await prepareLogin((url) => {
      address = url.href;
    });
    const transport = () => new StreamableHTTPClientTransport(new URL(gateway.url), { authProvider: login.provider });
    const first = transport();
    const client = new Client({ name: 'browser-test', version: '1' });
    await expect(client.connect(first)).rejects.toThrow();
    expect(address).toContain(`${gateway.issuer}/oauth/authorize?`);
    return {
      address,
      login,
      async tools() {
        await first.finishAuth(await login.answer);
        const again = new Client({ name: 'browser-test', version: '1' });
        await again.connect(transport());
        const { tools } = await again.listTools();
        await again.close();
        return tools.map(({ name }) => name);
      },
      [Symbol.asyncDispose]: () => login[Symbol.asyncDispose](),
    };
  }

  /** As a person does: first the mouse comes to the page, then it clicks. */
  async function press(page: Page, name: string): Promise<void> {
    await page.getByRole('heading', { level: 1 }).hover();
    await page.getByRole('button', { name, exact: true }).click();
  }

  async function allowAndLogIn(page: Page): Promise<void> {
    await press(page, 'Allow');
    await press(page, 'Log in as Alice Example');
    await page.getByRole('link', { name: 'Authorize' }).click();
    await page.getByText('You are logged in.').waitFor();
  }

  it('leads from consent over both providers back to the client, which then sees the tools', async () => {
    await using client = await startClient();
    await browser.visit({}, async (page) => {
      await page.goto(client.address);
      expect(await page.title()).toContain('Example client');
      await page.getByText('Unverified name').waitFor();
      await page.getByText('a program on this computer', { exact: false }).first().waitFor();
      expect(await page.locator('ol.stops strong').allTextContents()).toEqual(['corp', 'hub']);
      await press(page, 'Allow');
      await page.getByRole('heading', { name: 'Log in at corp' }).waitFor();
      await press(page, 'Log in as Alice Example');
      await page.getByRole('heading', { name: 'corp connected' }).waitFor();
      await page.getByText('Next: hub. 1 of 2 connected.').waitFor();
      await page.getByRole('heading', { name: 'Log in at hub' }).waitFor(); // by itself
      await page.getByRole('link', { name: 'Authorize' }).click();
      await page.getByText('You are logged in.').waitFor();
    });
    expect(await client.tools()).toEqual(['notes_say']);
    expect(corp.accessTokenOf('alice')).not.toBe('');
  });

  it('works on a small phone, by touch, in the dark', async () => {
    await using client = await startClient();
    const phone = {
      viewport: { width: 320, height: 568 },
      isMobile: true,
      hasTouch: true,
      colorScheme: 'dark' as const,
    };
    await browser.visit(phone, async (page) => {
      await page.goto(client.address);
      const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      expect(over).toBe(0);
      await page.getByRole('button', { name: 'Allow' }).tap();
      await page.getByRole('button', { name: 'Log in as Alice Example' }).tap();
      await page.getByRole('link', { name: 'Continue to hub' }).tap();
      await page.getByRole('link', { name: 'Authorize' }).tap();
      await page.getByText('You are logged in.').waitFor();
    });
    expect(await client.tools()).toEqual(['notes_say']);
  });

  it('visits no provider when the user denies, and the client is told', async () => {
    await using client = await startClient();
    const visits = corp.calls('authorize');
    await browser.visit({}, async (page) => {
      await page.goto(client.address);
      await press(page, 'Deny');
      await page.getByText('You were not let in.').waitFor();
    });
    await expect(client.login.answer).rejects.toThrow('access_denied');
    expect(corp.calls('authorize')).toBe(visits);
  });

  it('ends with a page and an error for the client when the second provider is refused', async () => {
    await using client = await startClient();
    await browser.visit({}, async (page) => {
      await page.goto(client.address);
      await press(page, 'Allow');
      await press(page, 'Log in as Bob Example');
      await page.getByRole('heading', { name: 'Log in at hub' }).waitFor();
      await page.getByRole('link', { name: 'Cancel' }).click();
      await page.getByRole('heading', { name: 'If it happens again' }).waitFor();
      expect(await page.content()).not.toContain('alert(1)'); // the provider's own words
      await page.getByRole('link', { name: /^Back to/ }).click();
      await page.getByText('You were not let in.').waitFor();
    });
    await expect(client.login.answer).rejects.toThrow('access_denied');
  });

  it('says so when a provider does not answer, and the client is told', async () => {
    await using client = await startClient();
    await browser.visit({}, async (page) => {
      await page.goto(client.address);
      await press(page, 'Allow');
      await page.getByRole('heading', { name: 'Log in at corp' }).waitFor();
      corp.faults.tokenStatus = 503;
      await press(page, 'Log in as Alice Example');
      await page.getByRole('heading', { name: 'If it happens again' }).waitFor();
      await page.getByRole('link', { name: /^Back to/ }).click();
      await page.getByText('You were not let in.').waitFor();
    });
    await expect(client.login.answer).rejects.toThrow(/temporarily_unavailable|server_error/);
  });

  it('shows a clear page for a link that is over, with a reference and nothing to press', async () => {
    await using client = await startClient();
    await browser.visit({}, async (page) => {
      await page.goto(client.address);
      const consent = page.url();
      await allowAndLogIn(page);
      const answer = await page.goto(consent);
      expect(answer?.status()).toBe(404);
      await page.getByRole('heading', { name: 'This login is over' }).waitFor();
      expect(await page.locator('code').allTextContents()).toEqual([expect.stringMatching(/^[0-9a-f-]{8,}$/)]);
      expect(await page.getByRole('button').count()).toBe(0);
    });
    expect(await client.tools()).toEqual(['notes_say']);
  });

  it('lets a second tab of the same login go on where the first one was left', async () => {
    await using client = await startClient();
    await browser.visit({}, async (first, context) => {
      await first.goto(client.address);
      const second = await context.newPage();
      await second.goto(first.url());
      await allowAndLogIn(second);
      await press(first, 'Allow');
      await first.getByRole('heading', { name: 'This login is over' }).waitFor();
    });
    expect(await client.tools()).toEqual(['notes_say']);
  });

  it('keeps two logins in one browser apart, however their steps mix', async () => {
    await using one = await startClient();
    await using other = await startClient();
    await browser.visit({}, async (first, context) => {
      const second = await context.newPage();
      await first.goto(one.address);
      await second.goto(other.address);
      await press(second, 'Allow');
      await press(first, 'Allow');
      await press(first, 'Log in as Alice Example');
      await press(second, 'Log in as Bob Example');
      await second.getByRole('link', { name: 'Authorize' }).click();
      await first.getByRole('link', { name: 'Authorize' }).click();
      await second.getByText('You are logged in.').waitFor();
      await first.getByText('You are logged in.').waitFor();
    });
    expect(await one.tools()).toEqual(['notes_say']);
    expect(await other.tools()).toEqual(['notes_say']);
  });

  it('does not go on in another browser, and the login of the first one is not harmed', async () => {
    await using client = await startClient();
    await browser.visit({}, async (page) => {
      await page.goto(client.address);
      const consent = page.url();
      await browser.visit({}, async (stranger) => {
        await stranger.goto(consent);
        await stranger.getByRole('heading', { name: 'This login is over' }).waitFor();
      });
      await allowAndLogIn(page);
    });
    expect(await client.tools()).toEqual(['notes_say']);
  });

  it('ends on a clear page when the user goes back and answers a provider once more', async () => {
    await using client = await startClient();
    await browser.visit({}, async (page) => {
      await page.goto(client.address);
      await allowAndLogIn(page);
      await page.goBack();
      await page.getByRole('link', { name: 'Authorize' }).click();
      await page.getByRole('heading', { name: 'This login is over' }).waitFor();
    });
    expect(await client.tools()).toEqual(['notes_say']);
  });
});
