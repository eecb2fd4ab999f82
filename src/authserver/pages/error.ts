import { html } from './html.ts';
import { layout, way } from './layout.ts';
import type { ErrorModel, Page } from './model.ts';

/** What went wrong in our words, what to do now, and the id under which the log tells more. */
export function errorPage({ title, message, advice, incident, continueTo, label, seconds }: ErrorModel): Page {
  return layout({
    title,
    main: html`<h1>${title}</h1>
<p class="lead">${message}</p>
<p>${advice}</p>
${continueTo === undefined ? undefined : way(continueTo, label ?? 'Continue')}
<section aria-labelledby="incident">
<h2 id="incident">If it happens again</h2>
<p class="quiet">Tell whoever runs this gateway this reference. The log has the details under it.</p>
<p><code>${incident}</code></p>
</section>`,
    ...(continueTo === undefined || seconds === undefined
      ? {}
      : {
          footer: html`<p>This page goes on by itself after ${seconds} seconds.</p>`,
          refresh: { address: continueTo, seconds },
        }),
  });
}
