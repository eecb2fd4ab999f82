export interface DemoUser {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** Anybody can be anyone of these. */
export const USERS: readonly DemoUser[] = [
  { id: 'alice', name: 'Alice Example', email: 'alice@example.test' },
  { id: 'bob', name: 'Bob Example', email: 'bob@example.test' },
];
