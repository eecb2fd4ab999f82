/**
 * The login itself: consent, the visits to the identity providers, and the way back to the client. Keeps every flow bound to the
 * browser that began it, stores nothing but sealed rows, and never shows or passes on a text of a provider.
 */
export type { InteractionParts } from './desk.ts';
export { createInteractions, type Interactions, interactionUrl } from './interactions.ts';
