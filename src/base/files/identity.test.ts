import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { birthOf, isSameProcess, selfIdentity } from './identity.ts';

describe('the identity of a process', () => {
  it('stays the same while it runs, and ends with it', async () => {
    const child = spawn('sleep', ['60']);
    const pid = child.pid ?? 0;
    const born = birthOf(pid) ?? '';
    expect(born).not.toBe('');
    expect(isSameProcess({ pid, born })).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isSameProcess({ pid, born })).toBe(false);
  });

  it('is not that of another process with the same number', () => {
    const { pid, born } = selfIdentity();
    expect(isSameProcess({ pid, born: `${born}0` })).toBe(false);
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 40])('of %d is nobody: signals to such numbers would reach others', (pid) => {
    expect(birthOf(pid)).toBeUndefined();
  });
});
