import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { executed, isPermanent, isTimeout, unavailable, unconfirmed } from './failure.ts';

function failed(message: string, more: object = {}): Error {
  return Object.assign(new Error(message), more);
}

describe('a command that failed', () => {
  it.each([
    ['READONLY You can’t write against a read only replica.', 'no'],
    ['NOREPLICAS Not enough good replicas to write.', 'no'],
    ['CLUSTERDOWN Hash slot not served', 'no'],
    ["Stream isn't writeable and enableOfflineQueue options is false", 'no'],
    ["Cluster isn't ready and enableOfflineQueue options is false", 'no'],
    ['Connection is closed.', 'unknown'],
    ['Command timed out', 'unknown'],
    ['Command aborted due to connection close', 'unknown'],
    ['something nobody has seen yet', 'unknown'],
  ])('%s: whether it was carried out is %s', (message, expected) => {
    expect(executed(failed(message))).toBe(expected);
  });

  it('counts as perhaps carried out when only its confirmation failed, however that did', () => {
    for (const message of [
      "Stream isn't writeable and enableOfflineQueue options is false",
      'LOADING',
      'Command timed out',
    ]) {
      expect(executed(unconfirmed(failed(message)))).toBe('unknown');
    }
    expect(isTimeout(unconfirmed(failed('Command timed out')))).toBe(true);
    expect(isPermanent(unconfirmed(failed('NOPERM User sally has no permissions to run the info command')))).toBe(true);
  });

  it('is not tried again when a setting has to change first', () => {
    expect(isPermanent(failed('WRONGPASS invalid username-password pair'))).toBe(true);
    expect(isPermanent(failed('self-signed certificate', { code: 'SELF_SIGNED_CERT_IN_CHAIN' }))).toBe(true);
    expect(isPermanent(failed('connect ECONNREFUSED', { code: 'ECONNREFUSED' }))).toBe(false);
  });
});

describe('the error that goes on', () => {
  it('has no arguments of the command, neither from the library nor quoted by the server', () => {
    const error = failed("ERR unknown command 'AUTH', with args beginning with: 'sally' 'hunter2'", {
      command: { name: 'auth', args: ['sally', 'hunter2'] },
    });
    const shown = inspect(unavailable('redis:6379', error), { depth: 10, showHidden: true });
    expect(shown).toContain('unknown command');
    expect(shown).not.toContain('hunter2');
  });

  it.each([
    ['WRONGPASS invalid username-password pair', 'check aclUserConfig'],
    ['no sentinel names the master: WRONGPASS invalid', 'check sentinelAclUserConfig'],
    ['no sentinel names the master: it knows none of the name x', 'check masterName'],
    ['NOPERM User sally has no permissions', 'docs/storage.md'],
    ['READONLY You cannot', 'it is a replica'],
    ['whatever', 'can be reached'],
  ])('%s: the hint says %s', (message, hint) => {
    expect(unavailable('redis:6379', failed(message))).toMatchObject({
      code: 'storage.unavailable',
      hint: expect.stringContaining(hint),
    });
  });
});
