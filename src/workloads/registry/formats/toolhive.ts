import { given } from '../../../base/index.ts';
import { isImageReference, parsePackageReference } from '../../../resources/index.ts';
import type { RegistryEntry, Way } from '../entry.ts';
import { headers, variables } from './inputs.ts';
import { parseTransport } from './packages.ts';
import { at, type Place, port, required, text, texts, WrongEntry } from './place.ts';
import { factsOf, withExtension } from './publisher.ts';
import { entryName, whyNoRemote } from './server-json.ts';

/** An entry of ToolHive's older layout, where `servers` and `remote_servers` are maps by name. */
export function olderEntry(name: string, place: Place, remote: boolean): RegistryEntry {
  const offer = remote ? remoteWay(place) : localWay(place);
  return {
    name: entryName({ value: name, path: place.path }),
    description: text(at(place, 'description')) ?? '',
    status: 'active',
    tags: [],
    tools: [],
    ...given({ title: text(at(place, 'title'), 200), repository: text(at(place, 'repository_url'), 2_000) }),
    ...factsOf(place),
    ways: 'refused' in offer ? [] : [withExtension(offer.way, place)],
    refused: 'refused' in offer ? [offer.refused] : [],
  };
}

type Offer = { readonly way: Way } | { readonly refused: string };

function localWay(place: Place): Offer {
  const server = required(at(place, 'image'), text(at(place, 'image'), 512));
  const isPackage = parsePackageReference(server) !== undefined;
  if (!isPackage && !isImageReference(server)) return { refused: `${server}: it is no image reference` };
  return {
    way: {
      kind: isPackage ? 'package' : 'image',
      server,
      transport: parseTransport(at(place, 'transport')),
      args: texts(at(place, 'args'), 4_096),
      missingArgs: [],
      env: variables(at(place, 'env_vars')),
      ...given({ targetPort: port(at(place, 'target_port')) }),
    },
  };
}

function remoteWay(place: Place): Offer {
  const server = required(at(place, 'url'), text(at(place, 'url'), 2_000));
  const transport = parseTransport(at(place, 'transport'));
  if (transport === 'stdio') throw new WrongEntry(at(place, 'transport'), 'must be sse or streamable-http');
  const why = whyNoRemote(server);
  if (why) return { refused: `${server}: ${why}` };
  return { way: { kind: 'remote', server, transport, headers: headers(at(place, 'headers')), env: [] } };
}
