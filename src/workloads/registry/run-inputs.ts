import { printable, SallyError } from '../../base/index.ts';
import type {
  Declaration,
  LocalWay,
  MissingArgument,
  Permissions,
  Provenance,
  RegistryEntry,
  RegistryOAuth,
  Transport,
  Way,
} from './entry.ts';
import { exampleLine } from './example.ts';

/** What an entry means for `run`: the server, and everything that flags may override. */
export interface RunInputs {
  /** The full name in the registry, and which registry it is. */
  readonly name: string;
  readonly registry: string;
  readonly kind: Way['kind'];
  /** A package reference, an image or a URL. */
  readonly server: string;
  readonly transport: Transport;
  readonly targetPort?: number;
  /** Used when the user gives none of his own; his replace these. */
  readonly args: readonly string[];
  readonly missingArgs: readonly MissingArgument[];
  readonly env: readonly Declaration[];
  readonly headers: readonly Declaration[];
  readonly permissions?: Permissions;
  readonly provenance?: Provenance;
  readonly oauth?: RegistryOAuth;
  /** For checking `--tools`; empty when the registry does not know them. */
  readonly tools: readonly string[];
  /** What the user should hear before it runs. */
  readonly notices: readonly string[];
  /** Rights on this machine beyond the usual, which nobody gets without being asked for. */
  readonly demands: readonly string[];
}

export interface WayOptions {
  /** Whether images can be run here. */
  readonly containers: boolean;
  /** `--transport`: only ways that speak it count, where there are any. */
  readonly transport?: Transport;
}

/** Takes one of the ways: a container where they run, then a package, then the server elsewhere. */
export function toRunInputs(entry: RegistryEntry, registry: string, options: WayOptions): RunInputs {
  const way = chooseWay(entry, options);
  const local = way.kind === 'remote' ? undefined : way;
  const remote = way.kind === 'remote' ? way : undefined;
  return {
    name: entry.name,
    registry,
    kind: way.kind,
    server: way.server,
    transport: way.transport,
    args: local?.args ?? [],
    missingArgs: local?.missingArgs ?? [],
    env: way.env,
    headers: remote?.headers ?? [],
    tools: entry.tools,
    notices: noticesOf(entry, way),
    demands: demandsOf(local?.permissions),
    ...(local?.targetPort === undefined ? {} : { targetPort: local.targetPort }),
    ...(local?.permissions ? { permissions: local.permissions } : {}),
    ...(local?.provenance ? { provenance: local.provenance } : {}),
    ...(remote?.oauth ? { oauth: remote.oauth } : {}),
  };
}

const ORDER: readonly Way['kind'][] = ['image', 'package', 'remote'];

function chooseWay({ name, ways, refused }: RegistryEntry, { containers, transport }: WayOptions): Way {
  const possible = ways.filter(({ kind }) => containers || kind !== 'image');
  const speaking = possible.filter((way) => way.transport === transport);
  const [best] = (speaking.length > 0 ? speaking : possible).toSorted(
    (a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind),
  );
  if (best) return best;
  const why =
    ways.length > 0
      ? 'it is a container image, and no container engine answers'
      : refused.join('; ') || 'its entry names no package, image or URL';
  throw new SallyError('registry.unknown_server', `${name} cannot be run here: ${printable(why, 500)}`, {
    hint: ways.length > 0 ? 'start Docker or Podman' : 'see sally registry info for what its publisher offers',
  });
}

/** The user's own arguments replace those of the entry; without any, what the server needs must be known. */
export function argumentsFor(inputs: RunInputs, own: readonly string[]): readonly string[] {
  const { name, args, missingArgs } = inputs;
  if (own.length > 0) return own;
  if (missingArgs.length === 0) return args;
  const needed = missingArgs.map(({ name: what, description }) =>
    printable(description ? `${what} (${description})` : what, 200),
  );
  throw new SallyError('registry.variable_missing', `${name} needs arguments: ${needed.join(', ')}`, {
    hint: `give all its arguments after --: ${exampleLine(name, inputs)}`,
  });
}

function noticesOf({ name, status }: RegistryEntry, { kind, server }: Way): readonly string[] {
  const pinned = kind === 'remote' || /@[^/]+$/.test(server) || /:[^/]+$/.test(server);
  return [
    ...(status === 'deprecated' ? [`${name} is deprecated by its publisher`] : []),
    ...(pinned ? [] : [`${name} names no version, so whatever is newest runs`]),
  ];
}

function demandsOf(permissions: LocalWay['permissions']): readonly string[] {
  const { read = [], write = [], privileged, network } = permissions ?? {};
  return [
    ...(privileged ? ['a privileged container, which can do everything on this machine'] : []),
    ...read.map((path) => `to read ${printable(path, 200)}`),
    ...write.map((path) => `to read and write ${printable(path, 200)}`),
    ...(network?.mode === 'host' ? ['the network of this machine itself'] : []),
  ];
}
