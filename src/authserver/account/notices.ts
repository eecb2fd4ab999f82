/** What was done, in the words of the next page. */
export const NOTICES = {
  disconnected: 'Disconnected. The tokens are gone, and the provider was told where it offers that.',
  ended: 'The login has ended. The application has to ask you again before it can do anything.',
  gone: 'That login is over, or was never yours. Nothing was changed.',
  unchanged: 'That cannot be done. Nothing was changed.',
} as const;

export type Notice = keyof typeof NOTICES;

export function isNotice(text: unknown): text is Notice {
  return typeof text === 'string' && Object.hasOwn(NOTICES, text);
}
