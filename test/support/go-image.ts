import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BASE_IMAGE, hasImage, IMAGE_CACHE, type TestEngine } from './engine.ts';
import { ROOT } from './sally.ts';

export const GO_IMAGE = 'sally-test/go:1';
export const GO_SERVER_IMAGE = 'sally-test/go-server:1';

/** What no build of ours needs. */
const LEFT_OUT = [
  ...['./test', './doc', './api', './misc', './src/cmd', 'testdata', '*_test.go', './bin/gofmt'],
  ...['cgo', 'cover', 'fix', 'preprofile', 'vet'].map((tool) => `./pkg/tool/*/${tool}`),
];
const PATH = '/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin';

const run = promisify(execFile);
let compiled: Promise<string> | undefined;

/**
 * An image with Go, for builds. It has what the server imports compiled already, where our recipe looks for it: to do that once more
 * in every engine takes a minute and shows nothing of ours.
 */
export async function ensureGoImage(engine: TestEngine): Promise<void> {
  if (await hasImage(engine, GO_IMAGE)) return;
  compiled ??= compileLibrary();
  const root = await realpath((await run('go', ['env', 'GOROOT'])).stdout.trim());
  const folder = await mkdtemp(join(tmpdir(), 'sally-go-image-'));
  try {
    // One layer: engines take longer for two.
    const archive = join(folder, 'files.tar');
    const without = LEFT_OUT.map((pattern) => `--exclude=${pattern}`);
    await run('tar', ['-cf', archive, '-C', root, ...without, placedAt('usr/local/go'), '.']);
    await run('tar', ['-rf', archive, '-C', await compiled, '--mode=a+rwX', placedAt('tmp/go-build'), '.']);
    await writeFile(join(folder, 'Dockerfile'), `FROM ${BASE_IMAGE}\nENV PATH=${PATH}\nADD files.tar /\n`);
    await engine.cli('build', '--quiet', '-t', GO_IMAGE, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Names of files and what hard links name; symbolic links stay as they are. */
const placedAt = (folder: string): string => `--transform=flags=rh;s,^\\.,${folder},`;

/** An image with nothing but the server in it: what goes to registries and back should be small. */
export async function ensureGoServerImage(engine: TestEngine): Promise<void> {
  if (await hasImage(engine, GO_SERVER_IMAGE)) return;
  const folder = await mkdtemp(join(tmpdir(), 'sally-go-server-'));
  try {
    await run('go', ['build', '-o', join(folder, 'server'), '.'], settings());
    await writeFile(
      join(folder, 'Dockerfile'),
      'FROM scratch\nCOPY server /server\nUSER 1000:1000\nENTRYPOINT ["/server"]\n',
    );
    await engine.cli('build', '--quiet', '-t', GO_SERVER_IMAGE, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Those of our recipe: Go tells by them what it has compiled. */
function settings() {
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-trimpath', GOCACHE: join(IMAGE_CACHE, 'go-build') };
  return { cwd: join(ROOT, 'test/fixtures/go-server'), env };
}

/** Gives the folder in which it lies. */
async function compileLibrary(): Promise<string> {
  const { stdout } = await run('go', ['list', '-f', '{{join .Imports "\\n"}}', '.'], settings());
  await run('go', ['build', ...stdout.trim().split('\n'), 'runtime'], settings());
  return settings().env.GOCACHE;
}
