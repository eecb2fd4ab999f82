import { createHash } from 'node:crypto';
import { SallyError } from '../../base/index.ts';
import type { PackageReference } from '../../resources/index.ts';

/** Where a server lies in its image. */
export const HOME = '/opt/server';
/** What the builder writes down for us. */
export const COMMANDS_FILE = `${HOME}/.commands`;

/** How an image is made from a package. The words of a script are fixed; what comes from outside is an argument to it. */
export interface Recipe {
  readonly base: string;
  readonly script: string;
  readonly args: readonly string[];
  /** For the builder only. */
  readonly env: Readonly<Record<string, string>>;
  /** For the image that comes out. */
  readonly runtimeEnv: Readonly<Record<string, string>>;
  /** Whether the server needs nothing but itself: then the image has no system in it. */
  readonly standsAlone: boolean;
  /** The program to start, from the names that the builder found. */
  readonly program: (commands: readonly string[]) => string;
}

const DEFAULT_BASE = { npx: 'node:24-alpine', uvx: 'python:3.14-slim', go: 'golang:1.26-alpine' } as const;

const NPM = `set -eu
cd ${HOME}
npm install --omit=dev --no-audit --no-fund --no-update-notifier --loglevel=http -- "$1"
node -e 'const m = require(process.argv[1] + "/package.json");
const bin = typeof m.bin === "string" ? { [m.name.split("/").pop()]: m.bin } : m.bin ?? {};
for (const [name, path] of Object.entries(bin)) console.log(name + " node_modules/" + m.name + "/" + path)' "${HOME}/node_modules/$2" > ${COMMANDS_FILE}
rm -rf ${HOME}/.npm`;

const PIP = `set -eu
python3 -m venv ${HOME}
${HOME}/bin/python -m pip install --no-cache-dir --no-input --disable-pip-version-check --progress-bar off -- "$1"
${HOME}/bin/python -c 'import sys, importlib.metadata as m
for e in m.distribution(sys.argv[1]).entry_points:
    if e.group == "console_scripts": print(e.name, "bin/" + e.name)' "$2" > ${COMMANDS_FILE}`;

const GO_INSTALL = `set -eu
GOBIN=${HOME}/bin go install -- "$1"
set -- ${HOME}/bin/*
[ $# = 1 ] || { echo "the module has several programs; name the folder of one" >&2; exit 1; }
mv "$1" ${HOME}/bin/server
echo server bin/server > ${COMMANDS_FILE}`;

const GO_BUILD = `set -eu
cd "/src/$1"
mkdir -p ${HOME}/bin
go build -o ${HOME}/bin/server .
echo server bin/server > ${COMMANDS_FILE}`;

const GO_ENV = {
  ...{ CGO_ENABLED: '0', GOFLAGS: '-trimpath', GOPATH: '/tmp/go', GOCACHE: '/tmp/go-build', GOTOOLCHAIN: 'auto' },
} as const;

/** `folder` is where a local package lies inside its module. */
export function recipeFor(reference: PackageReference, base: string | undefined, folder = ''): Recipe {
  const image = base ?? DEFAULT_BASE[reference.scheme];
  const common = { base: image, env: {}, runtimeEnv: {}, standsAlone: false };
  switch (reference.scheme) {
    case 'npx': {
      const { package: name, version } = reference;
      const program = (commands: readonly string[]): string => choose(commands, name, name.replace(/^.*\//, ''));
      const spec = version === undefined ? name : `${name}@${version}`;
      const env = { NODE_ENV: 'production', npm_config_cache: '/tmp/npm', npm_config_fetch_retries: '1' };
      return { ...common, env, runtimeEnv: { NODE_ENV: 'production' }, script: NPM, args: [spec, name], program };
    }
    case 'uvx': {
      const { package: name, version } = reference;
      const program = (commands: readonly string[]): string => choose(commands, name, name);
      const spec = version === undefined ? name : `${name}==${version}`;
      const runtimeEnv = { PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1' };
      return { ...common, runtimeEnv, script: PIP, args: [spec, name], program };
    }
    case 'go': {
      const program = (): string => `${HOME}/bin/server`;
      const go = { ...common, env: GO_ENV, standsAlone: true, program };
      if (!('module' in reference)) return { ...go, script: GO_BUILD, args: [folder] };
      return { ...go, script: GO_INSTALL, args: [`${reference.module}@${reference.version ?? 'latest'}`] };
    }
  }
}

/** The command of a package: the one named like it, or its only one. */
function choose(commands: readonly string[], name: string, wanted: string): string {
  const plain = (text: string): string => text.toLowerCase().replace(/[-_.]+/g, '-');
  const found = commands.flatMap((line) => {
    const [, command, path] = /^(\S+) (\S+)$/.exec(line) ?? [];
    return command === undefined || path === undefined ? [] : [{ command, path }];
  });
  const paths = new Set(found.map(({ path }) => path));
  const best =
    found.find(({ command }) => plain(command) === plain(wanted)) ?? (paths.size === 1 ? found[0] : undefined);
  if (best && isInside(best.path)) return `${HOME}/${best.path.replaceAll('/./', '/')}`;
  throw new SallyError(
    'workload.reference_invalid',
    found.length === 0
      ? `the package ${name} has no program to run`
      : `the package ${name} has several programs and none is named like it: ${found.map(({ command }) => command).join(', ')}`,
    { hint: 'check the name of the package: a library is not a server' },
  );
}

/** A manifest is the package's own word: it names something in its own folder, in characters that need no quoting. */
function isInside(path: string): boolean {
  return /^[A-Za-z0-9@._/+-]+$/.test(path) && !path.split('/').includes('..');
}

/** Equal inputs make an equal name, so an image that is there need not be built again. */
export function tagFor(reference: PackageReference, inputs: readonly unknown[]): string {
  const name = 'package' in reference ? reference.package : 'module' in reference ? reference.module : reference.path;
  const slug = `${reference.scheme}-${name}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 80);
  const hash = createHash('sha256').update(JSON.stringify(inputs)).digest('hex').slice(0, 24);
  return `localhost/sallyport/${slug.replace(/-$/, '')}:${hash}`;
}
