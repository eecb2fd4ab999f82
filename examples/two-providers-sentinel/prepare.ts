import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { PORTS, type Ports } from './ports.ts';

/** What the gateways may do at Redis: what they need and nothing else. docs/storage.md has the same line. */
const GATEWAY_RIGHTS =
  '~{sally:* &{sally:* -@all +get +exists +set +getdel +del +zadd +zrem +zrangebyscore +zremrangebyscore +pttl +pexpire +time +eval +wait +publish +subscribe +unsubscribe +ping +select +info +client|setname +cluster|slots +cluster|info';
/** What replicas and sentinels may do there: copy, look and change who follows whom; no command that reads a row. */
const KEEPER_RIGHTS =
  '&* -@all +psync +replconf +ping +multi +exec +slaveof +role +info +config|rewrite +client|setname +client|kill +script|kill +publish +subscribe';

export const MASTER_NAME = 'desk';
export const KEEPER = 'keeper';
export const KEEPER_PASSWORD = 'keeper-password';

/** Fills an empty folder with new secrets and the configuration of Redis. Only its owner can read what is in it. */
export async function prepare(folder: string, ports: Ports): Promise<void> {
  const [gatewayPassword, keeperPassword] = [newSecret(), newSecret()];
  const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const files: Record<string, string> = {
    'secrets/desk/signing-key': signingKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    'secrets/desk/hmac-secret': newSecret(),
    'secrets/corp-client/secret': newSecret(),
    'secrets/hub-client/secret': newSecret(),
    'secrets/redis-user/username': 'sally',
    'secrets/redis-user/password': gatewayPassword,
    [KEEPER_PASSWORD]: keeperPassword,
  };

  const servers = ['redis-1', 'redis-2'] as const;
  for (const name of servers) {
    files[`${name}.conf`] = lines([
      ...listening(folder, name, ports[name]),
      // A server that was killed has everything again when it comes back.
      'appendonly yes',
      // One that drops rows to make room logs people out.
      'maxmemory-policy noeviction',
      'repl-diskless-sync-delay 0',
      'user default off',
      `user sally on >${gatewayPassword} ${GATEWAY_RIGHTS}`,
      `user ${KEEPER} on >${keeperPassword} ${KEEPER_RIGHTS}`,
      `masteruser ${KEEPER}`,
      `masterauth ${keeperPassword}`,
      ...(name === 'redis-1' ? [] : [`replicaof 127.0.0.1 ${ports['redis-1']}`]),
    ]);
  }
  for (const name of ['sentinel-1', 'sentinel-2', 'sentinel-3'] as const) {
    files[`${name}.conf`] = lines([
      ...listening(folder, name, ports[name]),
      // Two of the three have to agree that the master is gone, after a second without an answer.
      `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${ports['redis-1']} 2`,
      `sentinel down-after-milliseconds ${MASTER_NAME} 1000`,
      `sentinel failover-timeout ${MASTER_NAME} 5000`,
      `sentinel auth-user ${MASTER_NAME} ${KEEPER}`,
      `sentinel auth-pass ${MASTER_NAME} ${keeperPassword}`,
    ]);
  }

  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
  }
  for (const name of servers) await mkdir(join(folder, name), { mode: 0o700 });
}

function listening(folder: string, name: string, port: number): readonly string[] {
  const dir = name.startsWith('redis') ? join(folder, name) : folder;
  return ['bind 127.0.0.1', `port ${port}`, `dir ${dir}`, `pidfile ${join(folder, `${name}.pid`)}`];
}

/** 32 bytes, as text. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}

// As a program: node examples/two-providers-sentinel/prepare.ts FOLDER
if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (!folder) {
    process.stderr.write('usage: node examples/two-providers-sentinel/prepare.ts FOLDER\n');
    process.exit(2);
  }
  await prepare(resolve(folder), PORTS);
}
