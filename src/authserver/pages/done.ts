import { html } from './html.ts';
import { layout } from './layout.ts';
import type { DoneModel, Page } from './model.ts';

/** The end of a way that leads nowhere else. */
export function donePage({ title, message }: DoneModel): Page {
  return layout({
    title,
    main: html`<h1>${title}</h1>
<p class="lead" role="status">${message}</p>`,
  });
}
