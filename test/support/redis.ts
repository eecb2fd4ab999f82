import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually, freePort } from './processes.ts';

/** Real servers on free loopback ports, with data in a folder that goes away with them. */

export interface Account {
  readonly user: string;
  readonly password: string;
}

/** Files of a certificate for 127.0.0.1, and of the authority that signed it. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface RedisOptions {
  /** The only user that may log in; everybody may otherwise. */
  readonly account?: Account;
  readonly tls?: Certificates;
  /** Further lines of its configuration. */
  readonly lines?: readonly string[];
}

export interface SentinelOptions extends RedisOptions {
  readonly replicas?: number;
  /** Password of the sentinels themselves. */
  readonly sentinelPassword?: string;
}

export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  readonly address: string;
  /** What `redis-cli` prints. */
  cli(...words: string[]): Promise<string>;
  /** It keeps its sockets and answers nothing. */
  pause(): void;
  resume(): void;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** After `kill`: again on the same port. */
  start(): Promise<void>;
}

export interface RedisSentinels extends AsyncDisposable {
  readonly masterName: string;
  readonly addresses: readonly string[];
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];
  /** Whom the sentinels call the master now. */
  master(): Promise<RedisServer>;
  /** `kill -9` of the master; gives the server that was it. */
  killMaster(): Promise<RedisServer>;
}

export interface RedisCluster extends AsyncDisposable {
  readonly servers: readonly RedisServer[];
}

const MASTER = 'sally-master';
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  return startServer('redis-server', await freePort(), options, options.lines ?? []);
}

/** One master, its replicas, and three sentinels that need half a second to miss it. */
export async function startSentinels(options: SentinelOptions = {}): Promise<RedisSentinels> {
  const { account, tls, replicas = 2, sentinelPassword } = options;
  const logIn = account ? [`masteruser ${account.user}`, `masterauth ${account.password}`] : [];
  const secured = tls ? ['tls-replication yes'] : [];
  // A replica that asks again at once after a failover, and a master that does not wait for more replicas to sync.
  const lines = [...logIn, ...secured, 'repl-diskless-sync-delay 0', ...(options.lines ?? [])];
  const master = await startServer('redis-server', await freePort(), options, lines);
  const servers = [master];
  const sentinels: RedisServer[] = [];
  const dispose = async (): Promise<void> => {
    await Promise.all([...sentinels, ...servers].map((server) => server[Symbol.asyncDispose]()));
  };
  try {
    for (let index = 0; index < replicas; index++) {
      const replicaOf = `replicaof 127.0.0.1 ${master.port}`;
      servers.push(await startServer('redis-server', await freePort(), options, [...lines, replicaOf]));
    }
    await eventually(
      () => master.cli('wait', String(replicas), '100'),
      (text) => text.trim() === String(replicas),
    );
    for (let index = 0; index < 3; index++) {
      const watch = [
        `sentinel monitor ${MASTER} 127.0.0.1 ${master.port} 2`,
        `sentinel down-after-milliseconds ${MASTER} 500`,
        `sentinel failover-timeout ${MASTER} 2000`,
        `sentinel parallel-syncs ${MASTER} 2`,
        ...(account
          ? [`sentinel auth-user ${MASTER} ${account.user}`, `sentinel auth-pass ${MASTER} ${account.password}`]
          : []),
        ...(sentinelPassword === undefined
          ? []
          : [`requirepass ${sentinelPassword}`, `sentinel sentinel-pass ${sentinelPassword}`]),
        ...secured,
      ];
      const reach: RedisOptions = {
        ...(tls ? { tls } : {}),
        ...(sentinelPassword === undefined ? {} : { account: { user: 'default', password: sentinelPassword } }),
      };
      sentinels.push(await startServer('redis-sentinel', await freePort(), reach, watch));
    }
    // A failover needs sentinels that know each other and every replica.
    for (const sentinel of sentinels) {
      const isReady = ([others, known]: readonly string[]) =>
        count(others, 'runid') === 2 && count(known, 'runid') === replicas;
      const look = () => Promise.all(['sentinels', 'replicas'].map((what) => sentinel.cli('sentinel', what, MASTER)));
      await eventually(look, isReady, 15_000);
    }
  } catch (error) {
    await dispose();
    throw error;
  }

  async function current(): Promise<RedisServer> {
    for (const sentinel of sentinels) {
      const answer = await sentinel.cli('sentinel', 'get-master-addr-by-name', MASTER).catch(() => '');
      const found = servers.find(({ port }) => answer.split('\n')[1]?.trim() === String(port));
      if (found) return found;
    }
    throw new Error('no sentinel knows a master');
  }

  return {
    masterName: MASTER,
    addresses: sentinels.map(({ address }) => address),
    servers,
    sentinels,
    master: current,
    async killMaster() {
      const server = await current();
      await server.kill();
      return server;
    },
    [Symbol.asyncDispose]: dispose,
  };
}

/** Three masters without replicas. */
export async function startCluster(options: RedisOptions = {}): Promise<RedisCluster> {
  const servers: RedisServer[] = [];
  const dispose = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  };
  try {
    for (let index = 0; index < 3; index++) {
      const lines = ['cluster-enabled yes', `cluster-port ${await freePort()}`, ...(options.lines ?? [])];
      servers.push(await startServer('redis-server', await freePort(), options, lines));
    }
    await servers[0]?.cli('--cluster', 'create', ...servers.map(({ address }) => address), '--cluster-yes');
    for (const server of servers) {
      await eventually(
        () => server.cli('cluster', 'info'),
        (text) => text.includes('cluster_state:ok'),
        15_000,
      );
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return { servers, [Symbol.asyncDispose]: dispose };
}

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** The next command with this word in it reaches the server, and the connection breaks before its answer arrives. */
  cutAnswerTo(word: string): void;
}

/** A network that fails at the worst moment. */
export async function startCuttingProxy(server: RedisServer): Promise<CuttingProxy> {
  let armed: string | undefined;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(server.port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}); // `close` follows
      socket.once('close', () => {
        for (const end of [client, upstream]) sockets.delete(end.destroy());
      });
    }
    let isDoomed = false;
    client.on('data', (command) => {
      if (armed !== undefined && command.includes(armed)) {
        isDoomed = true;
        armed = undefined;
      }
      upstream.write(command);
    });
    upstream.on('data', (answer) => (isDoomed ? client.destroy() : client.write(answer)));
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    cutAnswerTo(word) {
      armed = word;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

/** An authority of its own for each call: what one signed, another does not trust. */
export async function makeCertificates(folder: string): Promise<Certificates> {
  await mkdir(folder, { recursive: true });
  const at = (file: string): string => join(folder, file);
  const openssl = (...words: string[]): void => void execFileSync('openssl', words, { stdio: 'pipe' });
  const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...EC, '-keyout', at('ca.key'), '-out', at('ca.crt'), '-subj', '/CN=Test CA', '-days', '2');
  openssl('req', ...EC, '-keyout', at('server.key'), '-out', at('server.csr'), '-subj', '/CN=localhost');
  await writeFile(at('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  openssl(
    ...['x509', '-req', '-in', at('server.csr'), '-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-days', '2'],
    ...['-extfile', at('names'), '-out', at('server.crt')],
  );
  return { ca: at('ca.crt'), cert: at('server.crt'), key: at('server.key') };
}

async function startServer(
  program: 'redis-server' | 'redis-sentinel',
  port: number,
  { account, tls }: RedisOptions,
  lines: readonly string[],
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sally-redis-'));
  const config = join(folder, 'redis.conf');
  const listen = tls
    ? [
        'port 0',
        `tls-port ${port}`,
        `tls-ca-cert-file ${tls.ca}`,
        `tls-cert-file ${tls.cert}`,
        `tls-key-file ${tls.key}`,
        'tls-auth-clients no',
      ]
    : [`port ${port}`];
  const who =
    !account || account.user === 'default'
      ? []
      : ['user default off', `user ${account.user} on >${account.password} ~* &* +@all`];
  const keep = program === 'redis-server' ? ['save ""', 'appendonly yes', 'appendfsync always'] : [];
  await writeFile(
    config,
    ['bind 127.0.0.1', ...listen, `dir ${folder}`, 'logfile server.log', ...who, ...keep, ...lines, ''].join('\n'),
  );
  const reach = [
    ...['-p', String(port)],
    ...(account ? ['--user', account.user, '--pass', account.password, '--no-auth-warning'] : []),
    ...(tls ? ['--tls', '--cacert', tls.ca] : []),
  ];
  let child: ChildProcess | undefined;

  async function cli(...words: string[]): Promise<string> {
    // The cluster commands of redis-cli name their servers themselves.
    const where = words[0] === '--cluster' ? reach.slice(2) : reach;
    return (await promisify(execFile)('redis-cli', [...where, ...words], { timeout: 20_000 })).stdout;
  }

  async function start(): Promise<void> {
    const started = spawn(program, [config], { stdio: 'ignore' });
    child = started;
    running.add(started);
    started.once('exit', () => running.delete(started));
    const answer = (): Promise<string> => cli('ping').catch(String);
    await eventually(answer, (text) => text.trim() === 'PONG', 10_000).catch(async (cause: unknown) => {
      const log = await readFile(join(folder, 'server.log'), 'utf8').catch(() => '');
      throw new Error(`${program} did not start:\n${log.slice(-2_000)}`, { cause });
    });
  }

  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async function dispose(): Promise<void> {
    await kill();
    await rm(folder, { recursive: true, force: true });
  }

  await start().catch(async (error: unknown) => {
    await dispose();
    throw error;
  });
  return {
    port,
    address: `127.0.0.1:${port}`,
    cli,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    kill,
    start,
    [Symbol.asyncDispose]: dispose,
  };
}

function count(text: string | undefined, word: string): number {
  return (text ?? '').split('\n').filter((line) => line.trim() === word).length;
}
