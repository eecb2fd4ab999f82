/**
 * Sockets and what guards them: host and origin checks, size and time limits, HTTP answers. It knows nothing of tools or
 * backends.
 */
export { readBody } from './body.ts';
export { challengeHeaders } from './challenge.ts';
export { allowEveryPage, createCors } from './cors.ts';
export { type Access, createGuard, isLoopback } from './guard.ts';
export { answerHealth } from './health.ts';
export { type Listener, listen } from './listen.ts';
export { createMetadata, metadataPath, metadataUrl } from './metadata.ts';
export { Outlet } from './outlet.ts';
export { createPublicUrl, type PublicUrl } from './public-url.ts';
export { refuse } from './refuse.ts';
