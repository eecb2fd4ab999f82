/** Words of a server or a file, made safe for a terminal: no control or direction characters, no second line, not endless. */
export function printable(text: string, length = 2_000): string {
  const cut = text.length > length ? `${text.slice(0, length)}…` : text;
  return cut.replaceAll(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** C0 and C1 controls (line ends among them), and the characters that turn the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what we look for
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
