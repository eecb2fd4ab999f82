import { html } from './html.ts';
import { layout, way } from './layout.ts';
import type { LeadOnModel, Page } from './model.ts';

/**
 * Stands where a redirect after a form would stand: browsers hold every redirect behind a POST to `form-action`, and providers and
 * clients are not in it. Goes on at once; the link is for browsers that are told to stay.
 */
export function leadOnPage({ title, message, continueTo, label }: LeadOnModel): Page {
  return layout({
    title,
    main: html`<h1>${title}</h1>
<p class="lead" role="status">${message}</p>
${way(continueTo, label)}`,
    refresh: { address: continueTo, seconds: 0 },
  });
}
