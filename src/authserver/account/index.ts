/**
 * The page on which a user sees what he has connected, and ends it. It knows a browser by a short sign-in of its own, which is
 * good for nothing else, and shows and changes only what belongs to that user.
 */
export { type Account, createAccount } from './account.ts';
export { type Connection, type ConnectionState, connectionsOf, type OverviewParts } from './overview.ts';
