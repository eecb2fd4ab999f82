import { type Html, html } from './html.ts';
import { layout, way } from './layout.ts';
import type { Page, ProgressModel } from './model.ts';
import { stops } from './stops.ts';
import { isBlank, stranger, strangerInTitle } from './stranger.ts';

/** Long enough to see what happened, short enough not to be in the way. */
const SECONDS = 2;

/** Between two providers: what is connected, which one is next, how many are left. Goes on by itself. */
export function progressPage(model: ProgressModel): Page {
  const { providers, connected, continueTo } = model;
  const last = providers[connected - 1];
  const next = providers[connected];
  const count = `${connected} of ${providers.length} connected`;
  const heading = last ? html`${stranger(last.name)} connected` : html`First stop: ${next && stranger(next.name)}`;
  const title = last ? `${strangerInTitle(last.name)} connected` : `First stop: ${strangerInTitle(next?.name ?? '')}`;
  return layout({
    title: next && last ? `${title}, next: ${strangerInTitle(next.name)} (${count})` : `${title} (${count})`,
    main: html`<h1>${heading}</h1>
<p class="lead" role="status">${next && last ? html`Next: ${stranger(next.name)}. ` : undefined}${count}.</p>
<section aria-label="Progress">
${stops(providers, connected)}
</section>
${way(continueTo, next ? html`Continue to ${stranger(next.name)}` : html`Back to ${clientName(model)}`)}`,
    footer: html`<p>This page goes on by itself in a moment.</p>`,
    refresh: { address: continueTo, seconds: SECONDS },
  });
}

function clientName({ client }: ProgressModel): Html {
  return isBlank(client.name) ? html`the client` : stranger(client.name ?? '');
}
