import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page as Tab } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConnectionsModel,
  type ConsentModel,
  connectionsPage,
  consentPage,
  errorPage,
  leadOnPage,
  type Page,
  progressPage,
  sendPage,
} from '../../src/authserver/pages/index.ts';
import { type ScreenBrowser, startBrowser } from '../support/browser.ts';

const PROVIDERS = [
  { name: 'corp', host: 'login.corp.example', backends: [] },
  { name: 'github', host: 'github.com', backends: ['issues', 'actions'] },
  { name: 'google', host: 'accounts.google.com', backends: ['drive'] },
];

function consent(change: Partial<ConsentModel> = {}): Page {
  return consentPage({
    client: { id: 'dcr_8Gk2mZq1', name: 'Some Editor' },
    redirectUri: 'http://127.0.0.1:53117/callback',
    resource: 'https://gate.example.com/mcp',
    scopes: ['openid', 'email', 'offline_access', 'tools:write'],
    providers: PROVIDERS,
    action: '/decide',
    csrf: 'the anti-forgery value',
    ...change,
  });
}

const NOW = 1_800_000_000;
const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;
const LOGIN = {
  id: '5f0c7d4e9a1b2c3d',
  client: { id: 'dcr_8Gk2mZq1', name: 'Some Editor' },
  since: NOW - 2 * DAY,
  until: NOW + 28 * DAY,
  usedAt: NOW - 5 * MINUTE,
};
const CONNECTION = {
  name: 'github',
  host: 'github.com',
  backends: ['issues', 'actions'],
  state: 'connected' as const,
  account: 'alice@example.com',
  scopes: ['repo', 'read:org'],
  isRenewed: true,
  connectedAt: NOW - 2 * DAY,
  renewedAt: NOW - 3 * MINUTE,
  usedAt: NOW - 5 * MINUTE,
};

function connections(change: Partial<ConnectionsModel> = {}): Page {
  return connectionsPage({
    name: 'Alice Example',
    resource: 'https://gate.example.com/mcp',
    logins: [
      {
        ...LOGIN,
        connections: [
          { ...CONNECTION, name: 'corp', host: 'login.corp.example', backends: [], scopes: ['openid', 'email'] },
          CONNECTION,
          {
            name: 'google',
            host: 'accounts.google.com',
            backends: ['drive'],
            state: 'over',
            scopes: [],
            isRenewed: false,
          },
        ],
      },
      {
        ...LOGIN,
        id: '0123456789abcdef',
        client: { id: 'https://claude.ai/oauth/client.json', name: 'Claude', verifiedHost: 'claude.ai' },
        connections: [
          {
            name: 'google',
            host: 'accounts.google.com',
            backends: ['drive'],
            state: 'none',
            scopes: [],
            isRenewed: false,
          },
        ],
      },
    ],
    notice: undefined,
    newer: undefined,
    older: '/connections?from=20',
    action: '/act',
    csrf: 'the anti-forgery value',
    now: NOW,
    ...change,
  });
}

const HOSTILE = `Google\u202Egpj.exe"><script>document.title='owned'</script><img src=x onerror="document.title='owned'">${'W'.repeat(300)}`;

/** Every page, with every text that a stranger can choose being as bad as it can. */
const PAGES: Readonly<Record<string, Page>> = {
  consent: consent(),
  web: consent({
    client: { id: 'https://claude.ai/oauth/client.json', name: 'Claude', verifiedHost: 'claude.ai' },
    redirectUri: 'https://claude.ai/api/mcp/auth_callback',
  }),
  hostile: consent({
    client: { id: HOSTILE, name: HOSTILE },
    redirectUri: `javascript:document.title='owned'//${HOSTILE}`,
    scopes: ['openid', HOSTILE],
    providers: [{ name: HOSTILE, host: HOSTILE, backends: [HOSTILE] }],
  }),
  connections: connections(),
  empty: connections({ logins: [], notice: 'The login has ended.', name: undefined, older: undefined }),
  hostileConnections: connections({
    name: HOSTILE,
    resource: HOSTILE,
    older: `javascript:document.title='owned'`,
    logins: [
      {
        ...LOGIN,
        client: { id: HOSTILE, name: HOSTILE, verifiedHost: HOSTILE },
        connections: [
          { ...CONNECTION, name: HOSTILE, host: HOSTILE, backends: [HOSTILE], account: HOSTILE, scopes: [HOSTILE] },
        ],
      },
    ],
  }),
  progress: progressPage({ client: { id: 'a' }, providers: PROVIDERS, connected: 1, continueTo: '/arrived?a=1&b=2' }),
  leadOn: leadOnPage({ title: 'Denied', message: 'The client is told.', continueTo: '/arrived', label: 'Back' }),
  trap: leadOnPage({
    title: HOSTILE,
    message: HOSTILE,
    continueTo: 'javascript:document.title="owned"',
    label: HOSTILE,
  }),
  error: errorPage({
    title: 'This link is too old',
    message: 'A login has to be finished within ten minutes.',
    advice: 'Start again in your MCP client.',
    incident: '0f8f1c7e-2f4b-4c56-9a55-7f3f1f1f2c11',
  }),
};
/** Those that stay where they are. */
const STILL = ['consent', 'web', 'hostile', 'connections', 'empty', 'hostileConnections', 'trap', 'error'];

interface Found {
  readonly corners: string;
  readonly language: string;
  readonly headings: readonly string[];
  readonly landmarks: readonly number[];
  readonly scripts: number;
  readonly ids: readonly string[];
  readonly labelled: readonly string[];
  readonly unnamed: number;
  readonly schemes: readonly string[];
}

/** Run in the page, whose types are not ours. */
const LOOK_AROUND = `({
  corners: getComputedStyle(document.querySelector('main')).borderRadius,
  language: document.documentElement.lang,
  headings: [...document.querySelectorAll('h1,h2,h3')].map((heading) => heading.tagName),
  landmarks: ['header', 'main'].map((tag) => document.querySelectorAll(tag).length),
  scripts: document.querySelectorAll('script,iframe,object,embed,img,[onclick],[onerror],[onload],[style]').length,
  ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
  labelled: [...document.querySelectorAll('[aria-labelledby]')].map((node) => node.getAttribute('aria-labelledby')),
  unnamed: [...document.querySelectorAll('a,button')].filter((node) => !node.textContent.trim()).length,
  schemes: [...document.querySelectorAll('a')].map((link) => link.protocol),
})`;
const UNFOLD = `for (const details of document.querySelectorAll('details')) details.open = true`;
const MEASURE = `({
  over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  low: [...document.querySelectorAll('a,button,summary')]
    .filter((node) => node.checkVisibility() && node.getBoundingClientRect().height < 44).length,
})`;

describe('the pages, in Chromium', () => {
  let browser: ScreenBrowser;
  const posts: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    const page = PAGES[(request.url ?? '').slice(1)];
    if (page) return sendPage(response, 200, page);
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method === 'POST') posts.push(new URLSearchParams(body));
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${request.url}</title>`);
  });
  let origin: string;
  beforeAll(async () => {
    browser = await startBrowser();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
  });

  /** Opens one page, and fails on whatever the browser refused or complained about. */
  async function look<T>(name: string, use: (tab: Tab) => Promise<T>, options = {}): Promise<T> {
    return await browser.visit(options, async (tab) => {
      const complaints: string[] = [];
      tab.on('console', (message) => complaints.push(message.text()));
      tab.on('pageerror', (error) => complaints.push(String(error)));
      await tab.goto(`${origin}/${name}`);
      const result = await use(tab);
      expect(complaints).toEqual([]);
      return result;
    });
  }

  it.each(Object.keys(PAGES))('%s allows no script, no frame, nothing from elsewhere, and no cache', async (name) => {
    const { headers } = await fetch(`${origin}/${name}`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  it.each(STILL)(
    '%s is styled, has a language, one heading of the first level, landmarks, and names for all controls',
    async (name) => {
      await look(name, async (tab) => {
        const found = await tab.evaluate<Found>(LOOK_AROUND);
        expect(found.corners).not.toBe('0px');
        expect(found.language).toBe('en');
        expect(found.headings[0]).toBe('H1');
        expect(found.headings.filter((tag) => tag === 'H1')).toHaveLength(1);
        // No level is left out.
        expect(found.headings.indexOf('H3') === -1 || found.headings.indexOf('H2') < found.headings.indexOf('H3')).toBe(
          true,
        );
        expect(found.landmarks).toEqual([1, 1]);
        expect(found.scripts).toBe(0);
        expect(new Set(found.ids).size).toBe(found.ids.length);
        expect(found.ids).toEqual(expect.arrayContaining([...found.labelled]));
        expect(found.unnamed).toBe(0);
        expect(found.schemes.filter((scheme) => scheme !== 'http:')).toEqual([]);
      });
    },
  );

  it.each([
    ['a small phone', { viewport: { width: 320, height: 568 }, isMobile: true, hasTouch: true }],
    ['a narrow window at 200 %', { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
    ['a phone in the dark', { viewport: { width: 375, height: 700 }, colorScheme: 'dark' as const }],
  ])('fit %s: nothing sticks out, and a finger can press every control', async (_, options) => {
    await browser.visit(options, async (tab) => {
      for (const name of STILL) {
        await tab.goto(`${origin}/${name}`);
        await tab.evaluate(UNFOLD);
        expect(await tab.evaluate(MEASURE), name).toEqual({ over: 0, low: 0 });
      }
    });
  });

  it('are light by day and dark by night', async () => {
    const ground = (colorScheme: 'light' | 'dark') =>
      look('consent', (tab) => tab.evaluate('getComputedStyle(document.body).backgroundColor'), { colorScheme });
    expect(await ground('light')).toBe('rgb(243, 241, 235)');
    expect(await ground('dark')).toBe('rgb(15, 21, 19)');
  });

  it('show hostile names as text: nothing runs, nothing is turned around, nothing becomes a link', async () => {
    await look('hostile', async (tab) => {
      expect(await tab.title()).toMatch(/^Let \u2068Google\[U\+202E\]gpj\.exe/);
      expect(await textOf(tab, 'h1')).toContain('U+202E');
      expect(await tab.locator('a').count()).toBe(0);
    });
    await look('hostileConnections', async (tab) => {
      expect(await textOf(tab, 'h2')).toContain('U+202E');
      expect(await tab.locator('a').count()).toBe(0);
      expect(await tab.title()).toBe('Your connections · Sallyport');
    });
    await look('trap', async (tab) => {
      expect(await tab.locator('a').count()).toBe(0);
      expect(await tab.locator('meta[http-equiv=refresh]').count()).toBe(0);
      expect(await textOf(tab, 'main')).toContain('This address is not a link');
      expect(await tab.title()).not.toBe('owned');
    });
  });

  it('consent tells who asks, that the name is unverified, where the answer goes, what it may do and who is visited', async () => {
    const text = await look('consent', (tab) => textOf(tab, 'body'));
    expect(text).toContain('Let Some Editor in?');
    expect(text).toContain('Unverified name');
    expect(text).toContain('https://gate.example.com/mcp');
    expect(text).toContain('dcr_8Gk2mZq1');
    expect(text).toContain('127.0.0.1:53117, a program on this computer');
    expect(text).toContain('Allow it only if you started this login a moment ago.');
    expect(text).toContain('Know your email address');
    expect(text).toContain('tools:write');
    expect(text).toContain('with your logins for issues, actions and drive');
    expect(text).toMatch(/corp at login\.corp\.example\s+Tells the gateway who you are/);
    expect(text).toMatch(/github at github\.com\s+Serves issues, actions/);
    const web = await look('web', (tab) => textOf(tab, 'body'));
    expect(web).toMatch(/Published at\s+claude\.ai \(checked\)/);
    expect(web).not.toContain('this computer');
  });

  it('consent names the site that an unverified web client wants the answer at, before anything else', () => {
    const { html } = consent({ redirectUri: 'https://claude.ai.evil.example/cb' });
    expect(html).toContain('The answer goes to <strong><bdi>claude.ai.evil.example</bdi></strong>.');
  });

  it('connections tells what each application has, for which servers, and what has to be done', async () => {
    const text = await look('connections', (tab) => textOf(tab, 'main'));
    expect(text).toContain('You are Alice Example.');
    expect(text).toContain('Let in 2 days ago, last used 5 minutes ago, ends in 28 days. Reference 5f0c7d4e9a1b2c3d');
    expect(text).toMatch(/github at github\.com\s+Connected/);
    expect(text).toMatch(
      /Account\s+alice@example\.com\s+Serves\s+issues and actions\s+Scopes\s+repo\s+read:org\s+Lasts\s+as long as this login/,
    );
    expect(text).toContain('Connected 2 days ago, last renewed 3 minutes ago, last used 5 minutes ago.');
    expect(text).toMatch(/google at accounts\.google\.com\s+Login needed/);
    expect(text).toMatch(/Claude\s+Published at claude\.ai\. /);
    expect(text).toMatch(/google at accounts\.google\.com\s+Not connected/);
    expect(text).not.toContain('cannot use issues'); // that is told to whoever wants to disconnect
  });

  it('connections asks again before anything ends, and says what that means, with the keyboard alone too', async () => {
    await look('connections', async (tab) => {
      await tab.getByRole('listitem').filter({ hasText: 'github' }).locator('summary').focus();
      await tab.keyboard.press('Enter');
      await tab.getByText('Some Editor cannot use issues and actions until you connect github again.').waitFor();
      await tab.keyboard.press('Tab');
      await tab.keyboard.press('Enter');
      await tab.waitForURL(`${origin}/act`);
    });
    const sent = { csrf: 'the anti-forgery value', login: LOGIN.id, provider: 'github', do: 'disconnect' };
    expect(Object.fromEntries(posts.at(-1) ?? [])).toEqual(sent);
  });

  it('consent can be decided with the keyboard alone, and sends what was decided with the anti-forgery value', async () => {
    for (const [presses, decision] of [
      [1, 'allow'],
      [2, 'deny'],
    ] as const) {
      await look('consent', async (tab) => {
        for (let press = 0; press < presses; press++) await tab.keyboard.press('Tab');
        const outline = await tab.evaluate('getComputedStyle(document.activeElement).outlineWidth');
        expect(outline).toBe('3px');
        await tab.keyboard.press('Enter');
        await tab.waitForURL(`${origin}/decide`);
      });
      expect(Object.fromEntries(posts.at(-1) ?? [])).toEqual({ csrf: 'the anti-forgery value', decision });
    }
  });

  it('consent takes no click of a mouse that was not there before, as the second half of a double click is', async () => {
    await look('consent', async (tab) => {
      const allow = tab.getByRole('button', { name: 'Allow' });
      await allow.scrollIntoViewIfNeeded();
      const box = await allow.boundingBox();
      const [x, y] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 20];
      await tab.mouse.click(x, y);
      expect(tab.url()).toBe(`${origin}/consent`);
      await tab.waitForTimeout(600);
      expect(tab.url()).toBe(`${origin}/consent`);
      await tab.mouse.click(x, y);
      await tab.waitForURL(`${origin}/decide`);
    });
  });

  it('progress says what is connected and what is next to the eye and to a screen reader, and goes on by itself', async () => {
    await look('progress', async (tab) => {
      expect(await tab.title()).toMatch(/^\u2068corp\u2069 connected, next: \u2068github\u2069 \(1 of 3 connected\)/);
      expect(await textOf(tab, 'main')).toContain('Next: github. 1 of 3 connected.');
      expect(await textOf(tab, '[aria-current=step]')).toMatch(/github at github\.com\s+Next/);
      expect(await tab.locator('ol li').allInnerTexts()).toEqual([
        expect.stringContaining('Connected'),
        expect.stringContaining('Next'),
        expect.stringContaining('Later'),
      ]);
      expect(await tab.getByRole('link', { name: 'Continue to github' }).getAttribute('href')).toBe('/arrived?a=1&b=2');
      await tab.waitForURL(`${origin}/arrived?a=1&b=2`);
    });
  });

  it('a page that leads on does so without a click', async () => {
    await look('leadOn', (tab) => tab.waitForURL(`${origin}/arrived`));
  });

  it('an error tells what to do, and the reference under which the log knows more', async () => {
    const text = await look('error', (tab) => textOf(tab, 'main'));
    expect(text).toContain('Start again in your MCP client.');
    expect(text).toContain('0f8f1c7e-2f4b-4c56-9a55-7f3f1f1f2c11');
  });

  it('cannot be put into a frame', async () => {
    await browser.visit({}, async (tab) => {
      await tab.goto(`${origin}/elsewhere`);
      await tab.setContent(`<iframe src="${origin}/consent"></iframe>`);
      await expect.poll(() => tab.frames()[1]?.url()).toBe('chrome-error://chromewebdata/');
    });
  });

  it('leave a web client that opened them in a window of its own the way to hear from that window again', async () => {
    await browser.visit({}, async (tab) => {
      await tab.goto(`${origin}/client`);
      const [popup] = await Promise.all([
        tab.waitForEvent('popup'),
        tab.evaluate(`void window.open('${origin.replace('127.0.0.1', 'localhost')}/consent')`),
      ]);
      await popup.getByRole('button', { name: 'Allow' }).waitFor();
      // As a redirect would: an address that is typed in leaves all windows behind.
      await popup.evaluate(`void (location.href = '${origin}/client/callback')`);
      await popup.waitForURL(`${origin}/client/callback`);
      expect(await popup.evaluate('window.opener !== null && window.opener.location.pathname')).toBe('/client');
    });
  });
});

/** As a reader sees it: without what is hidden, and with its line breaks. */
async function textOf(tab: Tab, selector: string): Promise<string> {
  return (await tab.locator(selector).allInnerTexts()).join('\n');
}
