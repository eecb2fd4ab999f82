import { type IncomingHttpHeaders, request as send } from 'node:http';

export interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  readonly sameSite: string | undefined;
}

/** What a browser has in front of it. */
export interface Visit {
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface TravelOptions {
  /** The journey ends in front of such an address: it is given back and not asked for. */
  readonly until?: (url: URL) => boolean;
}

/** A browser without a screen: cookies, redirects, pages that lead on, forms, and the headers that tell where a request is from. */
export interface TestBrowser {
  /** All cookies that it holds. A test may take some away. */
  cookies: readonly Cookie[];
  /** One request. `from` is the page with the link; without it, somebody typed the address. */
  open(url: string | URL, from?: string | URL): Promise<Visit>;
  /** Opens, and goes along with redirects and `<meta http-equiv="refresh">` until there is a page that leads nowhere by itself. */
  travel(url: string | URL, options?: TravelOptions): Promise<Visit>;
  /** Sends the form of a page with its hidden fields and these, and travels on. */
  submit(page: Visit, fields: Readonly<Record<string, string>>, options?: TravelOptions): Promise<Visit>;
}

const MOST_STEPS = 30;

export interface TestBrowserOptions {
  /** The loopback address it comes from. Those who come often from one are slowed down. */
  readonly from?: string;
}

export function createTestBrowser({ from: localAddress }: TestBrowserOptions = {}): TestBrowser {
  const browser: TestBrowser = {
    cookies: [],
    open: (url, from) => visit('GET', new URL(url), from),
    travel: (url, options) => follow(new URL(url), undefined, options),
    async submit(page, fields, options) {
      const form = formOf(page);
      const body = new URLSearchParams({ ...form.hidden, ...fields }).toString();
      return await goOn(await visit('POST', form.action, page.url, body), options);
    },
  };

  async function follow(url: URL, from: URL | undefined, options: TravelOptions = {}): Promise<Visit> {
    if (options.until?.(url)) return { url, status: 0, headers: {}, body: '' };
    return await goOn(await visit('GET', url, from), options);
  }

  async function goOn(first: Visit, options: TravelOptions = {}): Promise<Visit> {
    let page = first;
    for (let step = 0; step < MOST_STEPS; step++) {
      const next = nextOf(page);
      if (!next) return page;
      if (options.until?.(next)) return { url: next, status: 0, headers: {}, body: '' };
      page = await visit('GET', next, page.url);
    }
    throw new Error(`still on the way after ${MOST_STEPS} steps, now at ${page.url.href}`);
  }

  async function visit(method: 'GET' | 'POST', url: URL, from?: string | URL, body?: string): Promise<Visit> {
    const headers: Record<string, string> = {
      accept: 'text/html',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      'sec-fetch-site': siteOf(url, from),
    };
    const cookies = browser.cookies.filter((cookie) => belongs(cookie, url));
    if (cookies.length > 0) headers.cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    if (body !== undefined) {
      headers['content-type'] = 'application/x-www-form-urlencoded';
      headers['content-length'] = String(Buffer.byteLength(body));
      headers.origin = from ? new URL(from).origin : 'null';
    }
    const page = await new Promise<Visit>((resolve, reject) => {
      const at = localAddress === undefined ? {} : { localAddress };
      const request = send(url, { method, headers, agent: false, ...at }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ url, status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      });
      request.on('error', reject).end(body);
    });
    for (const line of page.headers['set-cookie'] ?? []) keep(line, url);
    return page;
  }

  function keep(line: string, url: URL): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const equals = pair.indexOf('=');
    const attribute = (name: string) =>
      attributes.find((text) => text.toLowerCase().split('=')[0] === name)?.slice(name.length + 1);
    const cookie: Cookie = {
      name: pair.slice(0, equals),
      value: pair.slice(equals + 1),
      host: url.hostname,
      path: attribute('path') || url.pathname.slice(0, Math.max(1, url.pathname.lastIndexOf('/'))),
      secure: attribute('secure') !== undefined,
      httpOnly: attribute('httponly') !== undefined,
      sameSite: attribute('samesite'),
    };
    const age = attribute('max-age');
    const expires = age === undefined ? Date.parse(attribute('expires') ?? '') : Date.now() + Number(age) * 1000;
    const others = browser.cookies.filter(
      ({ name, host, path }) => name !== cookie.name || host !== cookie.host || path !== cookie.path,
    );
    browser.cookies = expires <= Date.now() ? others : [...others, cookie];
  }

  return browser;
}

/** Ports do not count for cookies. A `Secure` one goes to loopback addresses too, as in Chromium and Firefox. */
function belongs(cookie: Cookie, url: URL): boolean {
  if (cookie.host !== url.hostname) return false;
  const folder = cookie.path.endsWith('/') ? cookie.path : `${cookie.path}/`;
  return url.pathname === cookie.path || url.pathname.startsWith(folder);
}

function siteOf(url: URL, from: string | URL | undefined): string {
  if (!from) return 'none';
  const origin = new URL(from);
  if (origin.origin === url.origin) return 'same-origin';
  return origin.hostname === url.hostname ? 'same-site' : 'cross-site';
}

function nextOf({ status, headers, body, url }: Visit): URL | undefined {
  if (status >= 300 && status < 400 && headers.location) return new URL(headers.location, url);
  const meta = /<meta http-equiv="refresh" content="\d+;\s*url=([^"]+)"/i.exec(body);
  return meta ? new URL(unescaped(meta[1] ?? ''), url) : undefined;
}

function formOf({ body, url }: Visit): { readonly action: URL; readonly hidden: Record<string, string> } {
  const form = /<form\b([^>]*)>([\s\S]*?)<\/form>/i.exec(body);
  if (!form) throw new Error(`there is no form at ${url.href}:\n${body}`);
  const action = /\baction="([^"]*)"/.exec(form[1] ?? '')?.[1];
  const hidden: Record<string, string> = {};
  for (const [input] of (form[2] ?? '').matchAll(/<input\b[^>]*type="hidden"[^>]*>/gi)) {
    const name = /\bname="([^"]*)"/.exec(input)?.[1];
    if (name) hidden[unescaped(name)] = unescaped(/\bvalue="([^"]*)"/.exec(input)?.[1] ?? '');
  }
  return { action: new URL(unescaped(action ?? ''), url), hidden };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');
}
