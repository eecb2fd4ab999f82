import type { ServerResponse } from 'node:http';
import type { Page } from './model.ts';
import { STYLE_HASH } from './style.ts';

/**
 * Goes with every page. There is no script, no frame and nothing from elsewhere; a page can be framed by nobody and is kept by no
 * cache. `Cross-Origin-Opener-Policy` is left out on purpose: web clients open the login in a window of their own and wait for
 * that window to report back through its opener, which the header would cut off for good.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src '${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cross-origin-resource-policy': 'same-origin',
  'x-robots-tag': 'noindex',
};

export function sendPage(response: ServerResponse, status: number, page: Page): void {
  const body = Buffer.from(page.html);
  response.writeHead(status, { ...PAGE_HEADERS, 'content-length': body.length }).end(body);
}
