import { describe, expect, it } from 'vitest';
import { exited, notSpawned } from './failures.ts';

const LAUNCH = { name: 'notes', command: 'notes-server', args: [], env: {} };
const failed = (code: string) => Object.assign(new Error('spawn failed'), { code });

describe('the error of a server that ended', () => {
  it('shows its exit code and its last lines', () => {
    const error = exited('notes', { code: 3, signal: null }, ['reading config', 'no such file: notes.db']);
    expect(error.code).toBe('workload.exited');
    expect(error.message).toBe(
      'notes ended with exit code 3. Its last words:\n  reading config\n  no such file: notes.db',
    );
    expect(error.hint).toMatch('fix what the server says');
  });

  it('makes sense when the server said nothing', () => {
    const error = exited('notes', { code: 0, signal: null }, []);
    expect(error.message).toBe('notes ended with exit code 0 and left no word on stderr');
    expect(error.hint).toMatch('another transport');
  });

  it('names the signal', () => {
    const error = exited('notes', { code: null, signal: 'SIGKILL' }, []);
    expect(error.message).toMatch('ended by SIGKILL');
    expect(error.hint).toMatch('memory');
  });
});

describe('the error of a server that did not start', () => {
  it.each([
    ['ENOENT', LAUNCH, 'workload.program_missing', 'there is no program notes-server'],
    ['ENOENT', { ...LAUNCH, command: import.meta.filename }, 'workload.program_missing', 'needs an interpreter'],
    ['ENOENT', { ...LAUNCH, cwd: '/no/such/folder' }, 'workload.reference_invalid', 'its folder /no/such/folder'],
    ['EACCES', LAUNCH, 'workload.program_missing', 'may not be executed'],
    ['E2BIG', LAUNCH, 'workload.reference_invalid', 'too big'],
    ['EAGAIN', LAUNCH, 'workload.exited', 'refused another process'],
  ])('tells what %s means', (code, launch, expected, text) => {
    const error = notSpawned(launch, failed(code));
    expect(error.code).toBe(expected);
    expect(error.message).toMatch(text);
    expect(error.hint).toBeDefined();
  });
});
