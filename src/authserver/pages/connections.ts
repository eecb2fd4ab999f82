import { safeAddress } from './address.ts';
import { type Html, html, type Piece } from './html.ts';
import { layout } from './layout.ts';
import { listed } from './listed.ts';
import type { ClientView, ConnectionsModel, ConnectionView, LoginView, Page } from './model.ts';
import { isBlank, LONGEST_NAME, stranger } from './stranger.ts';
import { timeElement } from './times.ts';

/** Every client that the user let in, what it has at each provider, and the ways to end that. */
export function connectionsPage(model: ConnectionsModel): Page {
  const { name, logins, notice, newer, older } = model;
  return layout({
    title: 'Your connections',
    about: stranger(model.resource),
    main: html`<h1>Your connections</h1>
<p class="lead">${isBlank(name) ? undefined : html`You are <strong>${stranger(name ?? '', LONGEST_NAME)}</strong>. `}These applications may use this gateway in your name. Each has logins of its own at the providers.</p>
${notice === undefined ? undefined : html`<div class="notice" role="status"><p>${notice}</p></div>`}
${logins.length === 0 ? NOTHING : logins.map((login) => loginSection(login, model))}
${turnPages(newer, older)}
<section aria-label="Leave">
<p class="quiet small">This page forgets you after 15 minutes.</p>
${form(model, {}, html`<div class="steps"><button class="way" type="submit" name="do" value="leave">Leave now</button></div>`)}
</section>`,
    footer: html`<p>Applications get a token for this gateway only. What is listed here stays behind the gate.</p>`,
  });
}

const NOTHING = html`<section aria-label="Applications"><p>No application has a login of yours here.</p></section>`;

function loginSection(login: LoginView, model: ConnectionsModel): Html {
  const { id, client, since, until, usedAt, connections } = login;
  const { now } = model;
  return html`<section class="login" aria-labelledby="login-${id}">
<h2 id="login-${id}">${clientName(client)}</h2>
<p class="quiet small">${client.verifiedHost === undefined ? undefined : html`Published at ${stranger(client.verifiedHost)}. `}Let in ${timeElement(since, now)}, ${usedAt === undefined ? 'not used yet' : html`last used ${timeElement(usedAt, now)}`}, ends ${timeElement(until, now)}. Reference <code>${id}</code></p>
<ul class="connections">
${connections.map((connection) => connectionItem(connection, login, model))}</ul>
<div class="ends">
<details>
<summary class="way">End this login…</summary>
<div class="caution" role="note"><p>${clientName(client)} is logged out at once, and everything it has at the providers is given back.</p>
${form(model, { login: id }, html`<button class="way" type="submit" name="do" value="end"><span>End the login of ${clientName(client)}</span></button>`)}</div>
</details>
</div>
</section>
`;
}

const STATES = { connected: 'Connected', over: 'Login needed', none: 'Not connected' } as const;

function connectionItem(connection: ConnectionView, { id, client }: LoginView, model: ConnectionsModel): Html {
  const { name, host, state } = connection;
  const fields = { login: id, provider: name };
  const label = state === 'none' ? 'Connect' : 'Reconnect';
  return html`<li class="${state}">
<h3>${stranger(name)} <span class="quiet">at ${stranger(host)}</span> <span class="state">${STATES[state]}</span></h3>
<dl class="small">
${facts(connection, model.now)}</dl>
${history(connection, model.now)}
<div class="steps">
${form(model, fields, html`<button class="way" type="submit" name="do" value="connect" aria-describedby="login-${id}"><span>${label} ${stranger(name)}</span></button>`)}
${state === 'none' ? undefined : disconnect(connection, client, form(model, fields, html`<button class="way" type="submit" name="do" value="disconnect" aria-describedby="login-${id}"><span>Disconnect ${stranger(name)}</span></button>`))}
</div>
</li>
`;
}

function disconnect({ name, backends }: ConnectionView, client: ClientView, button: Html): Html {
  const what =
    backends.length === 0
      ? html`${clientName(client)} stays logged in, without its tokens at ${stranger(name)}.`
      : html`${clientName(client)} cannot use ${listed(backends)} until you connect ${stranger(name)} again.`;
  return html`<details>
<summary class="way">Disconnect…</summary>
<div class="caution" role="note"><p>${what} The tokens are removed here and revoked at ${stranger(name)} where it offers that, which may end other logins there too.</p>
${button}</div>
</details>`;
}

function facts(
  { account, backends, scopes, state, expiresAt, isRenewed }: ConnectionView,
  now: number,
): readonly Html[] {
  const tags = scopes.map((scope) => html`<code class="scope">${stranger(scope)}</code> `);
  const rows: readonly (readonly [string, Piece])[] = [
    ['Account', account === undefined ? undefined : stranger(account)],
    ['Serves', backends.length === 0 ? undefined : listed(backends)],
    ['Scopes', tags.length === 0 ? undefined : tags],
    ['Lasts', state === 'connected' ? lasts(expiresAt, isRenewed, now) : undefined],
  ];
  return rows.flatMap(([term, value]) => (value === undefined ? [] : [html`<dt>${term}</dt><dd>${value}</dd>\n`]));
}

function history({ connectedAt, renewedAt, usedAt, state }: ConnectionView, now: number): Html | undefined {
  if (state === 'none') return undefined;
  const connected = connectedAt === undefined ? undefined : html`Connected ${timeElement(connectedAt, now)}, `;
  const renewed = renewedAt === undefined ? undefined : html`last renewed ${timeElement(renewedAt, now)}, `;
  const used = usedAt === undefined ? html`not used yet` : html`last used ${timeElement(usedAt, now)}`;
  return html`<p class="quiet small">${connected}${renewed}${used}.</p>`;
}

function lasts(expiresAt: number | undefined, isRenewed: boolean, now: number): Html {
  if (isRenewed) return html`as long as this login, its tokens are renewed`;
  return expiresAt === undefined
    ? html`until the provider ends it`
    : html`until its token expires, ${timeElement(expiresAt, now)}`;
}

function form(model: ConnectionsModel, fields: Readonly<Record<string, string>>, content: Html): Html {
  const hidden = Object.entries({ csrf: model.csrf, ...fields }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="post" action="${model.action}">${hidden}${content}</form>`;
}

function turnPages(newer: string | undefined, older: string | undefined): Html | undefined {
  if (newer === undefined && older === undefined) return undefined;
  const link = (address: string | undefined, words: string): Html | undefined => {
    const safe = address === undefined ? undefined : safeAddress(address);
    return safe === undefined ? undefined : html`<a href="${safe}">${words}</a>`;
  };
  return html`<nav class="turn" aria-label="More logins"><span>${link(newer, 'Used more recently')}</span><span>${link(older, 'Used longer ago')}</span></nav>`;
}

function clientName({ id, name }: ClientView): Html {
  return isBlank(name) ? html`Client <code>${stranger(id)}</code>` : stranger(name ?? '', LONGEST_NAME);
}
