import { describe, expect, it } from 'vitest';
import { type LogFields, silentLog } from '../../../base/index.ts';
import { createLastWords } from './last-words.ts';
import { createMask } from './mask.ts';

function listen(secrets: readonly string[] = []) {
  const logged: unknown[] = [];
  const log = { ...silentLog, debug: (sentence: string, fields?: LogFields) => logged.push([sentence, fields]) };
  const words = createLastWords({ server: 'notes', log, mask: createMask(secrets) });
  return { words, logged, say: (text: string) => words.hear(Buffer.from(text)) };
}

describe('the last words of a server', () => {
  it('go to the log line by line', () => {
    const { say, logged } = listen();
    say('ready\n');
    expect(logged).toEqual([['server says', { server: 'notes', line: 'ready' }]]);
  });

  it('are the last twenty lines, and the one without a newline', () => {
    const { words, say } = listen();
    for (let n = 1; n <= 30; n++) say(`line ${n}\n`);
    say('the end');
    words.finish();
    expect(words.lines()).toHaveLength(20);
    expect(words.lines().at(0)).toBe('line 12');
    expect(words.lines().at(-1)).toBe('the end');
  });

  it('cannot paint, move the cursor, forge a line or turn the reading direction', () => {
    const { words, say } = listen();
    say('\u001b[31mred\u001b[0m\tand\r\u0007\u009b2J \u202eback\u2028on\n\n');
    expect(words.lines()).toEqual(['red  and backon']);
  });

  it('are cut when a line is very long', () => {
    const { words, say } = listen();
    say(`${'x'.repeat(5_000)}\nnext\n`);
    expect(words.lines().map((line) => line.length)).toEqual([2_001, 4]);
  });

  it('do not give away a secret, also one of several lines', () => {
    const { words, say } = listen(['hunter2-hunter2', 'first half\nsecond half', 'hunter2', 'tiny']);
    say('login with hunter2-hunter2 failed\nsecond half is bad, tiny is not\n');
    expect(words.lines()).toEqual(['login with [secret] failed', '[secret] is bad, tiny is not']);
  });

  it('do not give away a secret that has control characters inside, or gets them', () => {
    const { words, say, logged } = listen(['hunter2\thunter3\u0007', 'hunter4-hunter4']);
    say('with hunter2\thunter3\u0007 and hunter4-\u001b[1mhunter4\u001b[0m\n');
    expect(words.lines()).toEqual(['with [secret] and [secret]']);
    expect(JSON.stringify(logged)).not.toMatch('hunter');
  });

  it('do not give away the first half of a secret where a line is cut', () => {
    const secret = 'hunter2-'.repeat(10);
    for (const [before, after] of [
      ['x'.repeat(1_990), 'x\n'],
      ['x'.repeat(1_990), `${'x'.repeat(50_000)}\n`],
      ['ü'.repeat(1_990), `${'🙂'.repeat(50_000)}\n`],
      // What was masked before makes the line shorter, and moves the cut.
      [`${secret} `.repeat(24) + 'x'.repeat(50), secret.repeat(1_000)],
    ] as const) {
      const { words, say } = listen([secret]);
      say(before + secret + after);
      words.finish();
      expect(words.lines()).toHaveLength(1);
      expect(words.lines()[0]).toMatch(/\[secret\]…$/);
      expect(words.lines()[0]).not.toMatch('hunter');
    }
  });
});
