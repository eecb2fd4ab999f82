import { expect, it } from 'vitest';
import { SallyError } from './errors.ts';
import { createLog, type LogLevel } from './log.ts';
import { Secret } from './secret.ts';

function logged(level: LogLevel, format: 'text' | 'json', write: (log: ReturnType<typeof createLog>) => void): string {
  let text = '';
  write(createLog({ level, format, write: (line) => (text += line), now: () => new Date('2026-01-02T03:04:05Z') }));
  return text;
}

it('writes a sentence and its fields on one line', () => {
  expect(logged('info', 'text', (log) => log.info('backend connected', { backend: 'notes', ms: 12 }))).toBe(
    '03:04:05 info  backend connected backend=notes ms=12\n',
  );
});

it('writes JSON for machines', () => {
  expect(JSON.parse(logged('info', 'json', (log) => log.warn('slow', { ms: 12 })))).toEqual({
    time: '2026-01-02T03:04:05.000Z',
    level: 'warn',
    message: 'slow',
    ms: 12,
  });
});

it('leaves out what is below its level', () => {
  expect(logged('warn', 'text', (log) => log.info('x'))).toBe('');
});

it.each(['text', 'json'] as const)('never shows a secret (%s)', (format) => {
  const fields = { token: new Secret('hunter2'), nested: { list: [new Secret('hunter2')] } };
  expect(logged('info', format, (log) => log.info('x', fields))).not.toContain('hunter2');
});

it.each(['text', 'json'] as const)('a value cannot forge a line or move the cursor (%s)', (format) => {
  const text = logged('info', format, (log) => log.info('x', { said: 'a\n03:04:05 error forged\u001b[2J' }));
  expect(text.trimEnd().split('\n')).toHaveLength(1);
  expect(text).not.toContain('\u001b');
});

it('shows an error with its code and causes, without a stack', () => {
  const error = new SallyError('backend.unreachable', 'it is away', { cause: new Error('connection refused') });
  expect(logged('info', 'text', (log) => log.error('x', { error }))).toBe(
    '03:04:05 error x error="backend.unreachable: it is away: connection refused"\n',
  );
});
