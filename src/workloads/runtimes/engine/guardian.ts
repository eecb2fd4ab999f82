import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { EngineAddress } from './address.ts';
import { requestOptions } from './request-options.ts';

/**
 * Plain POSIX shell, since it has to wait for as long as we live and should cost nothing. It keeps the names it is told. Its stdin
 * ends when we do, however we end; what is still on the list then has lost its owner, and only now a program is started that can
 * speak to the engine.
 */
const SCRIPT = `trap '' INT TERM HUP QUIT
left=' '
while read -r sign name; do
  case $sign in
    +) left="$left$name " ;;
    -) case $left in *" $name "*) left="\${left%% $name *} \${left#* $name }" ;; esac ;;
  esac
done
[ "$left" = ' ' ] && exit
exec "$1" -e "$2" $left`;

/** Removes containers by name, and folders by path. It runs as the text of this function, so it uses nothing from outside its body. */
async function removeAll(): Promise<void> {
  const { request: plain } = process.getBuiltinModule('node:http');
  const { request: secure } = process.getBuiltinModule('node:https');
  const place = JSON.parse(process.env.SALLYPORT_ENGINE ?? '{}') as Record<string, unknown>;
  const request = place.ca === undefined ? plain : secure;

  /** The status, or nothing: the engine is gone, and its containers with it or out of reach. */
  function remove(name: string): Promise<number | undefined> {
    const path = `/containers/${encodeURIComponent(name)}?force=true&v=true`;
    return new Promise((resolve) => {
      request({ ...place, path, method: 'DELETE', timeout: 30_000 }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', () => resolve(undefined))
        .on('timeout', () => resolve(undefined))
        .end();
    });
  }

  // What was told last goes first: a server before the relay in whose network it lives. Podman keeps that one until the other is gone.
  for (const name of process.argv.slice(1).reverse()) {
    if (name.startsWith('/')) {
      process.getBuiltinModule('node:fs').rmSync(name, { recursive: true, force: true });
      continue;
    }
    for (let tries = 1; tries <= 8; tries++) {
      const status = await remove(name);
      if (status === undefined || status < 300 || status === 404) break;
      await new Promise((resolve) => setTimeout(resolve, 150 * tries));
    }
  }
  process.exit(); // nobody waits for an engine that hangs
}

/** Removes the containers of a gateway that was killed before it could. */
export interface ContainerGuardian extends AsyncDisposable {
  /** From now on a container of this name dies with us. Say it before it is created. */
  watch(name: string): void;
  /** It is gone. */
  release(name: string): void;
  close(): Promise<void>;
}

export function createContainerGuardian(address: EngineAddress): ContainerGuardian {
  const names = new Set<string>();
  let child: ChildProcess | undefined;

  function start(): ChildProcess {
    const started = spawn(
      '/bin/sh',
      ['-c', SCRIPT, 'sallyport-container-guardian', process.execPath, `(${removeAll})()`],
      {
        cwd: '/',
        detached: true, // Ctrl-C in our terminal is not meant for it
        env: { SALLYPORT_ENGINE: JSON.stringify(requestOptions(address)) },
        stdio: ['pipe', 'ignore', 'ignore'],
      },
    );
    started.stdin.on('error', () => {}); // it died, and the next one takes over
    started.once('error', () => {});
    started.once('exit', () => {
      if (child === started) child = undefined;
    });
    started.unref();
    (started.stdin as Socket).unref();
    return started;
  }

  function tell(sign: '+' | '-', name: string): void {
    if (child) {
      child.stdin?.write(`${sign} ${name}\n`);
      return;
    }
    child = start();
    for (const known of names) child.stdin?.write(`+ ${known}\n`);
  }

  async function close(): Promise<void> {
    const last = child;
    if (last?.pid === undefined || last.exitCode !== null) return;
    last.ref();
    last.stdin?.end();
    await once(last, 'exit');
  }

  return {
    watch(name) {
      names.add(name);
      tell('+', name);
    },
    release(name) {
      if (names.delete(name)) tell('-', name);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
