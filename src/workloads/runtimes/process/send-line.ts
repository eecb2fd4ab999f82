import type { Writable } from 'node:stream';

/** Writes a line to the input of a server, and says `false` instead when the server leaves more than `unreadBytes` unread. */
export function sendLine(stdin: Writable, line: string, unreadBytes: number): boolean {
  if (!stdin.writable) return true; // its end is told elsewhere
  if (stdin.writableLength + line.length > unreadBytes) return false;
  stdin.write(`${line}\n`);
  return true;
}
