import { type Html, html } from './html.ts';
import { stranger } from './stranger.ts';

/** Scopes with a meaning that OpenID Connect gives them; all others are the gateway's own. */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['openid', 'Know that it is you, by an identifier'],
  ['profile', 'Know your name'],
  ['email', 'Know your email address'],
  ['address', 'Know your postal address'],
  ['phone', 'Know your phone number'],
  ['offline_access', 'Stay connected while you are away, until the login expires or is revoked'],
]);

export function scopeInWords(scope: string): Html {
  const meaning = MEANINGS.get(scope);
  return meaning ? html`${meaning}` : html`Use the permission <code>${stranger(scope)}</code>`;
}
