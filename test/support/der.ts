/** As much of DER (X.690) as a certificate needs. */

export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

export const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
export const set = (...parts: readonly Buffer[]): Buffer => der(0x31, ...parts);
export const octets = (...parts: readonly Buffer[]): Buffer => der(0x04, ...parts);
export const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content);
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
/** Not negative: the first bit is the sign, so a small byte goes in front. */
export const integer = (bytes: Buffer): Buffer => der(0x02, Buffer.from([1]), bytes);
export const yes = der(0x01, Buffer.from([0xff]));

export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return der(0x06, Buffer.from([40 * first + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift(128 + (rest % 128));
  return digits;
}

/** GeneralizedTime, to the second. */
export function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+Z$/g, '')}Z`));
}
