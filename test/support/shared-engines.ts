import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { engineAt, startDocker, startPodman, type TestEngine } from './engine.ts';

/**
 * One engine of each kind for all files of a run: filling one with its first images takes longer than most tests. Vitest calls `setup`
 * before the files, in a process that outlives them; the files ask it over a socket, and the first to ask for a kind lets it start.
 */
type Kind = TestEngine['kind'];

const START: Readonly<Record<Kind, () => Promise<TestEngine>>> = { docker: startDocker, podman: startPodman };

export function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sally-engines-'));
  const engines = new Map<Kind, Promise<TestEngine>>();
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    socket.on('error', () => {}); // whoever asked is gone
    const kind = (await text(socket)) as Kind;
    const engine = engines.get(kind) ?? START[kind]();
    engines.set(kind, engine);
    const answer = await engine.then(
      ({ env }) => ({ host: env.DOCKER_HOST }),
      (error: unknown) => ({ problem: String(error) }),
    );
    socket.end(JSON.stringify(answer));
  });
  process.env.TEST_ENGINES = join(folder, 'keeper.sock');
  server.listen(process.env.TEST_ENGINES);
  return async () => {
    server.close();
    await Promise.all(
      [...engines.values()].map((engine) =>
        engine.then(
          (one) => one[Symbol.asyncDispose](),
          () => {},
        ),
      ),
    );
    rmSync(folder, { recursive: true, force: true });
  };
}

/** The engine of that kind which everybody uses. It is not ended by who asks for it. */
export async function sharedEngine(kind: Kind): Promise<TestEngine> {
  const socket = connect(process.env.TEST_ENGINES ?? '');
  await once(socket, 'connect');
  socket.end(kind);
  const { host, problem } = JSON.parse(await text(socket)) as { host?: string; problem?: string };
  if (host === undefined) throw new Error(problem);
  return engineAt(kind, host);
}
