import { type Html, html } from './html.ts';
import type { ProviderView } from './model.ts';
import { stranger } from './stranger.ts';

/** The providers of a login in the order of the visits. With `connected`, also how far it has come. */
export function stops(providers: readonly ProviderView[], connected?: number): Html {
  const items = providers.map((provider, index) => {
    const state = connected === undefined ? 'planned' : stateOf(index, connected);
    return stop(provider, state, index === 0);
  });
  return html`<ol class="stops">\n${items}</ol>`;
}

type State = 'planned' | 'done' | 'next' | 'later';

const IN_WORDS: Readonly<Record<State, string | undefined>> = {
  planned: undefined,
  done: 'Connected',
  next: 'Next',
  later: 'Later',
};

function stateOf(index: number, connected: number): State {
  if (index < connected) return 'done';
  return index === connected ? 'next' : 'later';
}

function stop(provider: ProviderView, state: State, isFirst: boolean): Html {
  const words = IN_WORDS[state];
  return html`<li class="${state}"${state === 'next' ? html` aria-current="step"` : undefined}>
<strong>${stranger(provider.name)}</strong> <span class="quiet">at ${stranger(provider.host)}</span>${words && html` <span class="state">${words}</span>`}
<br><span class="quiet small">${purpose(provider.backends, isFirst)}</span>
</li>
`;
}

/** The first provider is the one that says who the user is. */
function purpose(backends: readonly string[], isFirst: boolean): Html {
  const names = backends.map((name, index) => html`${index === 0 ? '' : ', '}${stranger(name)}`);
  if (backends.length === 0) return html`${isFirst ? 'Tells the gateway who you are' : 'Needed to log in'}`;
  return html`${isFirst ? 'Tells the gateway who you are, and serves' : 'Serves'} ${names}`;
}
