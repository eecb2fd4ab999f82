import { spawnSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { installWithApt } from './programs.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

export interface ScreenBrowser extends AsyncDisposable {
  /**
   * A fresh profile: no cookies, no cache, English, its own viewport and colours. What `use` throws is thrown again, with a
   * screenshot of each open page beside it.
   */
  visit<T>(options: BrowserContextOptions, use: (page: Page, context: BrowserContext) => Promise<T>): Promise<T>;
}

/** A real Chromium. A test that needs one fails where there is none, and is never skipped. */
export async function startBrowser(): Promise<ScreenBrowser> {
  const browser = await launch(chromiumProgram());
  return {
    async visit(options, use) {
      const context = await browser.newContext({ locale: 'en-GB', ...options });
      context.setDefaultTimeout(10_000);
      try {
        return await use(await context.newPage(), context);
      } catch (error) {
        throw new Error(`${(error as Error).message}\nscreenshots: ${await screenshots(context)}`, { cause: error });
      } finally {
        await context.close();
      }
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** Where Chromium is: what `SALLYPORT_TEST_CHROMIUM` names, or what the PATH has, or Debian's package when we may install it. */
export function chromiumProgram(): string {
  const found = process.env.SALLYPORT_TEST_CHROMIUM ?? onPath();
  if (found) return found;
  installWithApt(['chromium']);
  const installed = onPath();
  if (!installed) throw new Error('the package chromium was installed and brought no program of that name');
  return installed;
}

function onPath(): string | undefined {
  for (const name of NAMES) {
    const { status, stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
    if (status === 0) return stdout.trim();
  }
  return undefined;
}

async function launch(executablePath: string): Promise<Browser> {
  // Chromium's sandbox does not start for root, and in most containers. The pages here are our own.
  return await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

async function screenshots(context: BrowserContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sally-pages-'));
  for (const [index, page] of context.pages().entries()) {
    await page.screenshot({ path: join(folder, `${index}.png`), fullPage: true, timeout: 5_000 }).catch(() => {});
  }
  return folder;
}
