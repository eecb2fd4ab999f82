import { buffer } from 'node:stream/consumers';
import type { Container } from 'dockerode';
import { SallyError } from '../../base/index.ts';
import { isImageReference, type PackageReference } from '../../resources/index.ts';
import type { Environment } from '../launch.ts';
import { labelsFor } from '../runtimes/engine/labels.ts';
import { containerName } from '../runtimes/engine/settings.ts';
import { BUILDER, withBuild, withContainer } from './build-container.ts';
import { ensureImage, findImage, type ImageParts } from './pull.ts';
import { COMMANDS_FILE, HOME, type Recipe, recipeFor, tagFor } from './recipes.ts';
import { readGoSource, type SourceFolder } from './source-folder.ts';
import { onlyFileIn, type TarEntry, tarOf } from './tar.ts';
import { readTrust, type Trust, trusted } from './trust.ts';

/** What an image is built from. */
export interface BuildOrder {
  readonly reference: PackageReference;
  readonly base?: string | undefined;
  /** System packages, in the builder and in the image. */
  readonly packages: readonly string[];
  readonly caCert?: string | undefined;
  /** Where a relative path counts from. */
  readonly from: string;
  /** Another name for the image, beside its own. */
  readonly tag?: string | undefined;
  /** Build even when the image is there: a package without a version may have a newer one. */
  readonly fresh?: boolean;
}

/** Changes when what is built from the same inputs changes. */
const EDITION = 1;

const INSTALL = `set -eu
if command -v apt-get >/dev/null; then
  # A name that cannot be looked up for a moment is no reason to begin anew.
  apt-get -o Acquire::Retries=3 update -qq
  DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 install -y -qq --no-install-recommends -- "$@"
  rm -rf /var/lib/apt/lists/*
elif command -v apk >/dev/null; then
  apk add --no-cache -- "$@"
elif command -v microdnf >/dev/null; then
  microdnf install -y -- "$@"
elif command -v dnf >/dev/null; then
  dnf install -y -- "$@"
else
  echo "the image has no package manager that we know (apt-get, apk, dnf)" >&2
  exit 1
fi`;

/**
 * The image of a package, built when it is not there. The package is installed in one container and carried over into another,
 * which becomes the image: what the builder knew (logins, caches) is in no layer, and nothing in it was read by a shell.
 */
export async function ensureBuilt(order: BuildOrder, parts: ImageParts): Promise<string> {
  const { reference, packages } = order;
  refuseWords(order);
  const source = 'path' in reference ? await readGoSource(reference.path, order.from) : undefined;
  const trust = order.caCert === undefined ? undefined : await readTrust(order.caCert);
  const recipe = recipeFor(reference, order.base, source?.inside);
  const base = await ensureImage(recipe.base, parts);
  const sorted = [...new Set(packages)].sort();
  const tag = tagFor(reference, [EDITION, reference, base, sorted, trust?.pem, source?.digest, source?.inside]);
  const known = order.fresh ? undefined : await findImage(tag, parts.engine);
  const image = known ?? (await build({ recipe, base, packages: sorted, trust, source, tag }, parts));
  if (order.tag !== undefined) await nameImage(image, order.tag, parts);
  return image;
}

/** These come from a command line too, where no schema looked at them. */
function refuseWords({ packages, base }: BuildOrder): void {
  const bad = packages.find((name) => !/^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/.test(name));
  if (bad !== undefined)
    throw new SallyError('usage.invalid', `${JSON.stringify(bad)} is not the name of a system package`, {
      hint: 'letters, digits, dots, dashes, plus signs and underscores',
    });
  if (base !== undefined && !isImageReference(base))
    throw new SallyError('usage.invalid', `${JSON.stringify(base)} is not an image`, { hint: 'as in node:24-alpine' });
}

interface Inputs {
  readonly recipe: Recipe;
  readonly base: string;
  readonly packages: readonly string[];
  readonly trust: Trust | undefined;
  readonly source: SourceFolder | undefined;
  readonly tag: string;
}

async function build(inputs: Inputs, parts: ImageParts): Promise<string> {
  const { recipe, trust, source, packages, tag } = inputs;
  parts.progress(`building ${tag}`);
  const base = packages.length === 0 ? inputs.base : await withPackages(inputs, parts);
  const files = tarOf([
    { path: HOME.slice(1), owner: BUILDER },
    ...(source?.entries ?? []).map((entry) => ({ ...entry, owner: BUILDER })),
    ...(trust?.files ?? []),
  ]);
  const env = { ...indexSettings(parts.env), ...recipe.env, ...trust?.env };
  const step = { what: `the build of ${recipe.args[0] || 'the folder'}`, image: base, files, env, asRoot: false };
  const image = await withBuild({ ...step, script: recipe.script, args: recipe.args }, parts, async (builder) => {
    const commands = await readFileOf(builder, COMMANDS_FILE);
    const program = recipe.program(commands.split('\n').filter((line) => line !== ''));
    const standsAlone = recipe.standsAlone && packages.length === 0;
    return await assemble(
      builder,
      { program, tag, base: standsAlone ? await emptyImage(parts) : base, recipe, trust },
      parts,
    );
  });
  parts.progress(`built ${tag}`);
  return image;
}

interface Assembly {
  readonly program: string;
  readonly tag: string;
  readonly base: string;
  readonly recipe: Recipe;
  readonly trust: Trust | undefined;
}

/** Carries the server over into a container that never ran, and makes that the image. */
async function assemble(
  builder: Container,
  { program, tag, base, recipe, trust }: Assembly,
  parts: ImageParts,
): Promise<string> {
  const { npm_config_cafile: _, PIP_CERT: __, ...runtimeTrust } = trust?.env ?? {};
  const env = { HOME: '/tmp', ...recipe.runtimeEnv, ...runtimeTrust };
  return await withContainer(unstarted(base, parts.env), parts, async (target) => {
    if (trust) await target.putArchive(tarOf(trust.files), { path: '/' });
    await target.putArchive(await builder.getArchive({ path: HOME }), { path: '/opt' });
    return await commit(target, tag, { entrypoint: program, env, user: `${BUILDER}:${BUILDER}`, engine: parts.engine });
  });
}

/** The base with system packages in it, kept for the next build that wants the same. */
async function withPackages({ base, packages, trust }: Inputs, parts: ImageParts): Promise<string> {
  const key: PackageReference = { scheme: 'npx', package: 'base' };
  const tag = tagFor(key, [EDITION, base, packages, trust?.pem]);
  const known = await findImage(tag, parts.engine);
  if (known !== undefined) return known;
  const what = `the installation of ${packages.join(', ')}`;
  const env = { ...proxySettings(parts.env), ...trust?.env };
  const step = {
    what,
    image: base,
    script: INSTALL,
    args: packages,
    env,
    files: tarOf(trust?.files ?? []),
    asRoot: true,
  };
  return await withBuild(step, parts, (builder) => commit(builder, tag, { engine: parts.engine }));
}

/** Nothing but what every program expects: somewhere to write, somebody to be, and authorities to trust. */
async function emptyImage(parts: ImageParts): Promise<string> {
  const entries: readonly TarEntry[] = [
    { path: 'etc/passwd', content: `root:x:0:0::/:/\nserver:x:${BUILDER}:${BUILDER}::/tmp:/\n` },
    { path: 'etc/ssl/certs/ca-certificates.crt', content: trusted() },
    { path: 'opt' },
    { path: 'tmp', mode: 0o1777 },
  ];
  const archive = tarOf(entries);
  const tag = tagFor({ scheme: 'go', module: 'empty.image' }, [EDITION, archive.toString('base64')]);
  const known = await findImage(tag, parts.engine);
  if (known !== undefined) return known;
  const [repo, version] = split(tag);
  const { api } = parts.engine;
  const { Readable } = await import('node:stream');
  const stream = await api.importImage(Readable.from([archive]) as never, { repo, tag: version });
  const said = (await buffer(stream as never)).toString('utf8');
  const [, id = tag] = /"status":"(sha256:[0-9a-f]{64})"/.exec(said) ?? [];
  await api.getImage(id).tag({ repo, tag: version }); // Podman names what it imports `latest`, whatever it was told
  return id;
}

interface Commit extends Pick<ImageParts, 'engine'> {
  readonly entrypoint?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: string;
}

async function commit(
  container: Container,
  tag: string,
  { entrypoint, env = {}, user, engine }: Commit,
): Promise<string> {
  const [repo, version] = split(tag);
  const changes = [
    ...Object.entries(env).map(([name, value]) => `ENV ${name}=${value}`),
    ...(entrypoint === undefined ? [] : [`ENTRYPOINT ${JSON.stringify([entrypoint])}`, 'CMD []', 'WORKDIR /tmp']),
    ...(user === undefined ? [] : [`USER ${user}`]),
  ];
  const { Id } = (await container.commit({
    _query: { container: container.id, repo, tag: version, changes },
    // Never empty: the library would send nothing then, and Podman wants something to read.
    _body: { Labels: { 'dev.sallyport/built': 'true' } },
  })) as { Id: string };
  return (await findImage(tag, engine)) ?? Id;
}

async function nameImage(image: string, tag: string, { engine }: ImageParts): Promise<void> {
  const [repo, version] = split(/:[^/]+$/.test(tag) ? tag : `${tag}:latest`);
  await engine.api.getImage(image).tag({ repo, tag: version });
}

function unstarted(image: string, env: Environment) {
  const labels = labelsFor('build', 'build', env);
  return { name: containerName('build', 'image'), Image: image, Cmd: ['/none'], Labels: labels };
}

async function readFileOf(container: Container, path: string): Promise<string> {
  const archive = await buffer((await container.getArchive({ path })) as never);
  return onlyFileIn(archive)?.toString('utf8') ?? '';
}

function split(tag: string): readonly [string, string] {
  const at = tag.lastIndexOf(':');
  return [tag.slice(0, at), tag.slice(at + 1)];
}

const INDEXES = /^(npm_config_registry|npm_config_\/\/.+|npm_config_@.+:registry|PIP_INDEX_URL|PIP_EXTRA_INDEX_URL)$/i;
const GO_INDEXES = new Set(['GOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GOPRIVATE', 'GONOPROXY', 'GOINSECURE']);
const PROXIES = /^(https?|no)_proxy$/i;

/** Where packages come from, with the logins that may be in there. They are known to the builder alone and part of no image. */
function indexSettings(env: Environment): Record<string, string> {
  return pick(env, (name) => INDEXES.test(name) || GO_INDEXES.has(name) || PROXIES.test(name));
}

function proxySettings(env: Environment): Record<string, string> {
  return pick(env, (name) => PROXIES.test(name));
}

function pick(env: Environment, wanted: (name: string) => boolean): Record<string, string> {
  const found = Object.entries(env).filter(([name, value]) => value !== undefined && wanted(name));
  return Object.fromEntries(found) as Record<string, string>;
}
