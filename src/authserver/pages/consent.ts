import { type Destination, destinationOf } from './address.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { listed } from './listed.ts';
import type { ClientView, ConsentModel, Page, ProviderView } from './model.ts';
import { scopeInWords } from './scopes.ts';
import { stops } from './stops.ts';
import { isBlank, LONGEST_NAME, stranger, strangerInTitle } from './stranger.ts';

/** Asks before anybody is sent anywhere: who is asking, where the answer goes, what it may do, and who will be visited. */
export function consentPage(model: ConsentModel): Page {
  const { client, providers } = model;
  const destination = destinationOf(model.redirectUri);
  const name = nameOf(client);
  return layout({
    title: name === undefined ? 'Let an unnamed client in?' : `Let ${strangerInTitle(name)} in?`,
    about: stranger(model.resource),
    main: html`<h1>${name === undefined ? 'Let an unnamed client in?' : html`Let ${stranger(name, LONGEST_NAME)} in?`}</h1>
<p class="tag">Unverified name</p>
<p class="lead">It asks to use the tools of this gateway in your name. What it is called here is its own choice.</p>
${caution(client, destination)}
<section aria-labelledby="who">
<h2 id="who">Who is asking</h2>
<dl>
${identity(client)}
<dt>Answer goes to</dt><dd>${destinationInWords(destination)}<br><code class="small quiet">${stranger(model.redirectUri)}</code></dd>
</dl>
</section>
<section aria-labelledby="what">
<h2 id="what">What it could do</h2>
<ul class="plain">
<li>Use the tools behind this gateway${asYou(providers)}</li>
${model.scopes.map((scope) => html`<li>${scopeInWords(scope)}</li>\n`)}</ul>
</section>
<section aria-labelledby="where">
<h2 id="where">Where you will log in</h2>
${stops(providers)}
</section>
<form method="post" action="${model.action}">
<input type="hidden" name="csrf" value="${model.csrf}">
<div class="ways">
<button class="way first" type="submit" name="decision" value="allow">Allow</button>
<button class="way" type="submit" name="decision" value="deny">Deny</button>
</div>
</form>`,
    footer: html`<p>The logins stay behind this gate. The client gets a token for this gateway only, never one of your providers.</p>`,
  });
}

function nameOf({ name }: ClientView): string | undefined {
  return isBlank(name) ? undefined : name;
}

function identity({ id, verifiedHost }: ClientView): Html {
  if (verifiedHost !== undefined) {
    return html`<dt>Published at</dt><dd><strong>${stranger(verifiedHost)}</strong> <span class="quiet">(checked)</span><br><code class="small quiet">${stranger(id)}</code></dd>`;
  }
  return html`<dt>Client id</dt><dd><code>${stranger(id)}</code></dd>`;
}

function destinationInWords(destination: Destination): Html {
  switch (destination.kind) {
    case 'website':
      return html`<strong>${stranger(destination.host)}</strong>`;
    case 'this-computer':
      return html`<strong>${stranger(destination.host)}</strong>, a program on this computer`;
    case 'app':
      return html`the app that opens <strong>${stranger(destination.scheme)}</strong> links`;
  }
}

/** What a wrong name could hide: the one thing that the user can check is where the answer goes. */
function caution({ verifiedHost }: ClientView, destination: Destination): Html | undefined {
  switch (destination.kind) {
    case 'website':
      // Documents can lie on hosts that anybody can put something on: the host then vouches for nothing but itself.
      if (verifiedHost === destination.host) return undefined;
      return cautionBox(
        html`The answer goes to <strong>${stranger(destination.host)}</strong>. Allow it only if you know that site and started this login there.`,
      );
    case 'this-computer':
      return cautionBox(
        html`The answer goes to a program on this computer, and any program can use any name. Allow it only if you started this login a moment ago.`,
      );
    case 'app':
      return cautionBox(
        html`The answer goes to an app on this device, and another app could have taken its place. Allow it only if you started this login a moment ago.`,
      );
  }
}

function cautionBox(sentence: Html): Html {
  return html`<div class="caution" role="note"><p>${sentence}</p></div>`;
}

/** The backends that will see a login of the user. The others are used without one. */
function asYou(providers: readonly ProviderView[]): Html | undefined {
  const names = [...new Set(providers.flatMap(({ backends }) => backends))];
  if (names.length === 0) return undefined;
  return html`, with your logins for ${listed(names)}`;
}
