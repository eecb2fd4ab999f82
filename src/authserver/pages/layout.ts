import { safeAddress } from './address.ts';
import { Html, html, type Piece } from './html.ts';
import type { Page } from './model.ts';
import { stranger } from './stranger.ts';
import { STYLE } from './style.ts';

export interface Layout {
  /** For the tab and for screen readers, which say it first. Not HTML. */
  readonly title: string;
  /** Under the name of the gate: which endpoint this is about. */
  readonly about?: Piece;
  readonly main: Html;
  readonly footer?: Html;
  /** Goes there by itself, after so many seconds. */
  readonly refresh?: { readonly address: string; readonly seconds: number };
}

/** A gate with two doors, one behind the other. */
const MARK = html`<svg class="mark" viewBox="0 0 48 48" aria-hidden="true" focusable="false"><path d="M6 42V23a18 18 0 0 1 36 0v19M2.5 42h43" fill="none" stroke="currentColor" stroke-width="3.5" stroke-linecap="round"/><path d="M22.6 42H14V24.5a10 10 0 0 1 8.6-9.9zM25.4 42H34V24.5a10 10 0 0 0-8.6-9.9z" fill="currentColor"/></svg>`;

export function layout({ title, about, main, footer, refresh }: Layout): Page {
  const address = refresh && safeAddress(refresh.address);
  const meta = address ? html`<meta http-equiv="refresh" content="${refresh.seconds}; url=${address}">` : undefined;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · Sallyport</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${meta}<style>${new Html(STYLE)}</style>
</head>
<body>
<header>${MARK}<p><strong>Sallyport</strong>${about === undefined ? undefined : html`<span>${about}</span>`}</p></header>
<main>
${main}
</main>
${footer && html`<footer>${footer}</footer>\n`}</body>
</html>
`;
  return { html: page.text };
}

/** A link that looks like a button, or the address as text when nobody should follow it. */
export function way(address: string, label: Piece): Html {
  const safe = safeAddress(address);
  return safe
    ? html`<p class="ways"><a class="way first" href="${safe}"><span>${label}</span></a></p>`
    : html`<p class="small quiet">This address is not a link, because a browser should not open it: <code>${stranger(address)}</code></p>`;
}
