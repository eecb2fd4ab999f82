import type { Shelf } from './memory.ts';
import type { Records, RowGroup } from './records.ts';

/** Kinds of rows that others than the adapter ask for. The library's models are kinds under their own names. */
export const KIND = {
  /** A client that at least one login went through. */
  client: 'client',
  /** A client that registered, and nothing more. */
  idleClient: 'idle-client',
  /** What was taken over from the document about a client that somebody is logged in with. */
  clientDocument: 'client-document',
  grant: 'Grant',
  interaction: 'Interaction',
  refreshToken: 'RefreshToken',
  /** What a refresh was answered with, for the client that did not hear it. */
  refreshAnswer: 'refresh-answer',
  /** What the login pages know of a login that is under way. */
  loginFlow: 'login-flow',
  loginLeg: 'login-leg',
  /** What users and administrators see of a login that stands. */
  login: 'login',
} as const;

/** Everything that ends with a login: the grant, its codes and refresh tokens, and the tokens of the providers. */
export function grantGroup(records: Records, grantId: string): RowGroup {
  return records.group('grant', grantId);
}

/** How much of what strangers can cause is kept in memory. */
export const SHELVES: Readonly<Record<string, Shelf>> = {
  [KIND.idleClient]: { most: 10_000, whenFull: 'drop' },
  // In the order of last use: who is in the middle of a login is not pushed out by those who only begin one.
  [KIND.interaction]: { most: 5_000, whenFull: 'drop' },
  [KIND.loginFlow]: { most: 5_000, whenFull: 'drop' },
  [KIND.loginLeg]: { most: 10_000, whenFull: 'drop' },
};
