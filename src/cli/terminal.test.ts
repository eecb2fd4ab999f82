import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createTerminal, type Input } from './terminal.ts';

/** Stands in for the keyboard. */
function keyboard(isTTY = true) {
  const stream = new PassThrough();
  const modes: boolean[] = [];
  const input = Object.assign(stream, {
    isTTY,
    setRawMode: (raw: boolean) => {
      modes.push(raw);
      return stream;
    },
  }) as unknown as Input;
  let shown = '';
  const terminal = createTerminal(input, (text) => {
    shown += text;
  });
  return {
    terminal,
    type: (text: string | Buffer) => stream.write(text),
    end: () => stream.end(),
    modes,
    shown: () => shown,
  };
}

it('reads a hidden line, and takes the terminal out of its raw mode again', async () => {
  const { terminal, type, modes, shown } = keyboard();
  type('hun');
  const answer = terminal.askHidden('Value: ');
  type('ter2\r');
  expect(await answer).toBe('hunter2');
  expect(modes).toEqual([true, false]);
  expect(shown()).toBe('Value: \n');
});

it('knows the keys that correct a line, by whole characters', async () => {
  const { terminal, type } = keyboard();
  type('wrong\u0015ab\u{1f511}\u007fc\b\u007f\r');
  expect(await terminal.askHidden('')).toBe('a');
});

it('puts letters together that arrive in pieces', async () => {
  const { terminal, type } = keyboard();
  const key = Buffer.from('sch\u00f6n\r');
  const answer = terminal.askHidden('');
  type(key.subarray(0, 4));
  await new Promise((resolve) => setTimeout(resolve, 5));
  type(key.subarray(4));
  expect(await answer).toBe('sch\u00f6n');
});

it('keeps what was pasted ahead for the next questions', async () => {
  const { terminal, type } = keyboard();
  type('one\r\ntwo\nthree\n');
  expect([await terminal.askHidden(''), await terminal.ask(''), await terminal.ask('')]).toEqual([
    'one',
    'two',
    'three',
  ]);
});

it.each(['\u0003', '\u0004'])('ends at %j, and leaves the terminal as it was', async (key) => {
  const { terminal, type, modes } = keyboard();
  type(key);
  await expect(terminal.askHidden('')).rejects.toMatchObject({ code: 'usage.cancelled' });
  expect(modes).toEqual([true, false]);
});

it('ends when the input does', async () => {
  const { terminal, end } = keyboard();
  const answer = terminal.ask('');
  end();
  await expect(answer).rejects.toMatchObject({ code: 'usage.cancelled' });
});

it('reads what is piped in to its end, and no more than the limit', async () => {
  const piped = keyboard(false);
  piped.type('a\nb\n');
  piped.end();
  expect(piped.terminal.canAsk).toBe(false);
  expect(await piped.terminal.readAll(10)).toBe('a\nb\n');
  const large = keyboard(false);
  large.type('x'.repeat(11));
  await expect(large.terminal.readAll(10)).rejects.toThrow('more than 10 characters');
});
