import { given } from '../../../base/index.ts';
import { isImageReference, parsePackageReference } from '../../../resources/index.ts';
import type { Declaration, LocalWay, Transport } from '../entry.ts';
import { argumentsOf, variables } from './inputs.ts';
import { at, list, type Place, required, text, WrongEntry } from './place.ts';

/** Either a way to run the server, or why it is none here. */
export type Offer = { readonly way: LocalWay } | { readonly refused: string };

/** The indexes that npx and uvx ask by default. A package of another index must not be fetched from these by its name. */
const USUAL_INDEX = { npm: 'https://registry.npmjs.org', pypi: 'https://pypi.org' } as const;

/** One of the `packages` of an entry in the official format. */
export function packageOffer(place: Place): Offer {
  const type = required(at(place, 'registryType'), text(at(place, 'registryType'), 40));
  const identifier = required(at(place, 'identifier'), text(at(place, 'identifier'), 512));
  const version = text(at(place, 'version'), 255);
  switch (type) {
    case 'npm':
    case 'pypi': {
      const base = text(at(place, 'registryBaseUrl'), 512)?.replace(/\/+$/, '');
      if (base !== undefined && base !== USUAL_INDEX[type]) return refused(identifier, `it lies in the index ${base}`);
      return fromIndex(type === 'npm' ? 'npx' : 'uvx', identifier, version, place);
    }
    case 'oci':
      return fromImage(imageOf(identifier, version, text(at(place, 'registryBaseUrl'), 512)), place);
    default:
      return refused(identifier, `packages of type ${type} cannot be run`);
  }
}

function fromIndex(scheme: 'npx' | 'uvx', identifier: string, version: string | undefined, place: Place): Offer {
  const pinned = version === undefined || version === 'latest' ? '' : `@${version}`;
  const server = `${scheme}://${identifier}${pinned}`;
  if (!parsePackageReference(server))
    return refused(identifier, 'its name or version cannot be written as a reference');
  // A hash that we do not check would be a promise that we do not keep.
  if (text(at(place, 'fileSha256')) !== undefined)
    return refused(identifier, 'its hash cannot be checked with this tool');
  const asked = argumentsOf(at(place, 'runtimeArguments')).args.filter((word) => word !== '-y' && word !== '--yes');
  if (asked.length > 0) return refused(identifier, `it needs arguments of the tool: ${asked.join(' ')}`);
  return { way: wayOf('package', server, place, []) };
}

function fromImage(server: string, place: Place): Offer {
  if (!isImageReference(server)) return refused(server, 'it is no image reference');
  const { env, other } = engineArguments(at(place, 'runtimeArguments'));
  // Mounts, networks and privileges come from a permission profile, which is checked, never from words for the engine.
  if (other.length > 0) return refused(server, `it needs arguments of the container engine: ${other.join(' ')}`);
  return { way: wayOf('image', server, place, env) };
}

function wayOf(kind: LocalWay['kind'], server: string, place: Place, more: readonly Declaration[]): LocalWay {
  const { args, missing } = argumentsOf(at(place, 'packageArguments'));
  return {
    kind,
    server,
    ...transportOf(at(place, 'transport')),
    args,
    missingArgs: missing,
    env: [...variables(at(place, 'environmentVariables')), ...more],
  };
}

export function transportOf(place: Place): { readonly transport: Transport; readonly targetPort?: number } {
  const transport = parseTransport(at(place, 'type'));
  const port = URL.parse(text(at(place, 'url')) ?? '')?.port;
  return { transport, ...given({ targetPort: transport !== 'stdio' && port ? Number(port) : undefined }) };
}

export function parseTransport(place: Place): Transport {
  const type = text(place, 40) ?? 'stdio';
  if (type === 'stdio' || type === 'sse' || type === 'streamable-http') return type;
  throw new WrongEntry(place, 'must be stdio, sse or streamable-http');
}

/** Older entries name registry, image and tag apart. */
function imageOf(identifier: string, version: string | undefined, base: string | undefined): string {
  const host = URL.parse(base ?? '')?.host;
  const first = identifier.split('/')[0] ?? '';
  const named = /[.:]/.test(first) && identifier.includes('/');
  const image = host && !named ? `${host}/${identifier}` : identifier;
  const tagged = /[:@]/.test(image.split('/').at(-1) ?? '');
  return tagged || version === undefined ? image : `${image}:${version}`;
}

/** `-e NAME=value` declares a variable; what only says how to talk to the engine is ours to decide. */
function engineArguments(place: Place): { readonly env: readonly Declaration[]; readonly other: readonly string[] } {
  const env: Declaration[] = [];
  const other: string[] = [];
  for (const item of list(place)) {
    const name = text(at(item, 'name'), 200) ?? text(at(item, 'value'), 200) ?? '';
    if (['-i', '--interactive', '--rm', '--init', 'run'].includes(name)) continue;
    if (name === '-e' || name === '--env') env.push(engineVariable(item));
    else other.push(name);
  }
  return { env, other };
}

function engineVariable(item: Place): Declaration {
  const whole = required(at(item, 'value'), text(at(item, 'value')));
  const [, name = '', value] = /^([^=]+)(?:=(.*))?$/s.exec(whole) ?? [];
  const place = { value: { ...(item.value as object), name, value }, path: item.path };
  const [declared] = variables({ value: [place.value], path: item.path });
  return required(item, declared);
}

function refused(what: string, why: string): Offer {
  return { refused: `${what}: ${why}` };
}
