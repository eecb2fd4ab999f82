import { given } from '../../../base/index.ts';
import type { RegistryEntry, RemoteWay, Way } from '../entry.ts';
import { headers } from './inputs.ts';
import { type Offer, packageOffer, parseTransport } from './packages.ts';
import { at, flag, isObject, list, object, type Place, required, text, WrongEntry } from './place.ts';
import { type Facts, factsOf, withExtension } from './publisher.ts';

const PUBLISHER = 'io.modelcontextprotocol.registry/publisher-provided';
const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const TOOLHIVE = 'io.github.stacklok';
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?:\/[A-Za-z0-9_][A-Za-z0-9._-]*)?$/;

export function entryName(place: Place): string {
  const name = required(place, text(place, 200));
  // Shown on terminals, typed into shells and made into names of workloads.
  if (!NAME.test(name) || name.includes('..')) throw new WrongEntry(place, 'is not a name such as dev.acme/notes');
  return name;
}

/** What the registry itself says about an entry, beside what the publisher says. */
export interface Standing {
  readonly deleted: boolean;
  readonly latest: boolean;
  readonly deprecated: boolean;
}

export function standingOf(place: Place): Standing {
  const official = at(at(place, '_meta'), OFFICIAL);
  const status = text(at(official, 'status'), 40);
  return { deleted: status === 'deleted', deprecated: status === 'deprecated', latest: flag(at(official, 'isLatest')) };
}

/** One `server.json`, the official format of the MCP registry. */
export function serverEntry(place: Place): RegistryEntry {
  const name = entryName(at(place, 'name'));
  const extensions = at(at(at(place, '_meta'), PUBLISHER), TOOLHIVE);
  const offers: readonly Offer[] = list(at(place, 'packages'), 50).map(packageOffer);
  const local = offers.flatMap((offer) => ('way' in offer ? [offer.way] : []));
  const remotes = list(at(place, 'remotes'), 50).map(remoteOffer);
  const ways = [...local, ...remotes.flatMap((offer) => ('way' in offer ? [offer.way] : []))];
  const refused = [...offers, ...remotes].flatMap((offer) => ('refused' in offer ? [offer.refused] : []));
  const facts = factsFor(extensions);
  return {
    name,
    description: text(at(place, 'description')) ?? '',
    status: 'active',
    tags: [],
    tools: [],
    ...given({
      title: text(at(place, 'title'), 200),
      version: text(at(place, 'version'), 255),
      repository: webAddress(text(at(at(place, 'repository'), 'url'), 2_000)),
    }),
    ...facts,
    ways: ways.map((way) => extended(way, extensions)),
    refused,
  };
}

/** The extension is keyed by image or URL. Only the key of the way itself counts, never whichever comes first. */
function extended(way: Way, extensions: Place): Way {
  const extension = at(extensions, way.server);
  return object(extension) ? withExtension(way, extension) : way;
}

function factsFor(extensions: Place): Facts {
  if (!isObject(extensions.value)) return {};
  return Object.assign({}, ...Object.keys(extensions.value).map((key) => factsOf(at(extensions, key))));
}

type RemoteOffer = { readonly way: RemoteWay } | { readonly refused: string };

function remoteOffer(place: Place): RemoteOffer {
  const transport = parseTransport(at(place, 'type'));
  if (transport === 'stdio') throw new WrongEntry(at(place, 'type'), 'must be sse or streamable-http');
  const url = filledUrl(required(at(place, 'url'), text(at(place, 'url'), 2_000)), at(place, 'variables'));
  const why = whyNoRemote(url);
  if (why) return { refused: `${url}: ${why}` };
  return { way: { kind: 'remote', server: url, transport, headers: headers(at(place, 'headers')), env: [] } };
}

function filledUrl(url: string, variables: Place): string {
  return url.replaceAll(/\{([A-Za-z0-9_.-]+)\}/g, (whole, name: string) => {
    const variable = at(variables, name);
    return text(at(variable, 'value')) ?? text(at(variable, 'default')) ?? whole;
  });
}

export function whyNoRemote(text: string): string | undefined {
  if (/[{}]/.test(text)) return 'its address has gaps that only you can fill; run the full URL instead';
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'it is not an https URL';
  return url.username || url.password ? 'it carries a password' : undefined;
}

function webAddress(text: string | undefined): string | undefined {
  return text !== undefined && ['https:', 'http:'].includes(URL.parse(text)?.protocol ?? '') ? text : undefined;
}
