import { given } from '../../../base/index.ts';
import type { Permissions, Provenance, RegistryEntry, RegistryOAuth, Way } from '../entry.ts';
import { variables } from './inputs.ts';
import {
  at,
  count,
  flag,
  isObject,
  list,
  MAX_TEXT,
  matching,
  object,
  type Place,
  port,
  required,
  text,
  texts,
  WrongEntry,
} from './place.ts';

/** What ToolHive's registries say beyond the official format. In older files the same fields stand in the entry itself. */

/** Facts about a server, wherever they stand. */
export type Facts = Partial<Pick<RegistryEntry, 'status' | 'tier' | 'stars' | 'tags' | 'tools'>>;

export function factsOf(place: Place): Facts {
  const status = text(at(place, 'status'), 40)?.toLowerCase();
  const tier = text(at(place, 'tier'), 40)?.toLowerCase();
  const tags = texts(at(place, 'tags'));
  const tools = texts(at(place, 'tools'));
  return given({
    status: status === 'deprecated' ? ('deprecated' as const) : undefined,
    tier: tier === 'official' || tier === 'community' ? (tier as 'official' | 'community') : undefined,
    stars: count(at(at(place, 'metadata'), 'stars')),
    tags: tags.length > 0 ? tags : undefined,
    tools: tools.length > 0 ? tools : undefined,
  });
}

/** A way with what the publisher added for it. */
export function withExtension(way: Way, place: Place): Way {
  if (way.kind === 'remote') {
    return {
      ...way,
      env: [...way.env, ...variables(at(place, 'env_vars'))],
      ...given({ oauth: oauthOf(at(place, 'oauth_config')) }),
    };
  }
  const args = texts(at(place, 'args'), 4_096);
  return {
    ...way,
    args: way.args.length > 0 ? way.args : args,
    ...given({
      permissions: permissionsOf(at(place, 'permissions')),
      provenance: provenanceOf(at(place, 'provenance')),
    }),
  };
}

const HOST = /^(?:\*?\.)?[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/;
const MOUNT = /^[^\p{Cc}]+$/u;

/** Hosts end up in rules of a proxy, so nothing passes that is not a host. */
export function permissionsOf(place: Place): Permissions | undefined {
  if (!object(place)) return undefined;
  const network = at(place, 'network');
  const [outbound, inbound] = [at(network, 'outbound'), at(network, 'inbound')];
  const hosts = (of: Place): readonly string[] =>
    list(of).map((item) => required(item, matching(item, HOST, 'is not a host', 253)));
  const mounts = (of: Place): readonly string[] =>
    list(of).map((item) => required(item, matching(item, MOUNT, 'is not a mount', 4_096)));
  return given({
    read: some(mounts(at(place, 'read'))),
    write: some(mounts(at(place, 'write'))),
    privileged: flag(at(place, 'privileged')) || undefined,
    network: object(network)
      ? given({
          mode: matching(at(network, 'mode'), /^[A-Za-z0-9][A-Za-z0-9_.:-]*$/, 'is not a network'),
          outbound: object(outbound)
            ? given({
                insecure_allow_all: flag(at(outbound, 'insecure_allow_all')) || undefined,
                allow_host: some(hosts(at(outbound, 'allow_host'))),
                allow_port: some(list(at(outbound, 'allow_port')).map((item) => required(item, port(item)))),
              })
            : undefined,
          inbound: object(inbound) ? given({ allow_host: some(hosts(at(inbound, 'allow_host'))) }) : undefined,
        })
      : undefined,
  });
}

export function provenanceOf(place: Place): Provenance | undefined {
  if (!object(place)) return undefined;
  const fields = [
    'sigstore_url',
    'repository_uri',
    'repository_ref',
    'signer_identity',
    'runner_environment',
    'cert_issuer',
  ];
  return given({
    ...Object.fromEntries(fields.map((name) => [name, text(at(place, name), 1_000) || undefined])),
    attestation: attestationOf(at(place, 'attestation')),
  });
}

function attestationOf(place: Place): Provenance['attestation'] {
  if (!object(place)) return undefined;
  const { value: predicate } = at(place, 'predicate');
  if (predicate !== undefined && JSON.stringify(predicate).length > MAX_TEXT)
    throw new WrongEntry(at(place, 'predicate'), `has more than ${MAX_TEXT} characters`);
  return given({ predicate_type: text(at(place, 'predicate_type'), 1_000) || undefined, predicate });
}

export function oauthOf(place: Place): RegistryOAuth | undefined {
  if (!object(place)) return undefined;
  const params = object(at(place, 'oauth_params'));
  return given({
    issuer: url(at(place, 'issuer')),
    authorize_url: url(at(place, 'authorize_url')),
    token_url: url(at(place, 'token_url')),
    resource: url(at(place, 'resource')),
    scopes: some(texts(at(place, 'scopes'))),
    callback_port: port(at(place, 'callback_port')),
    use_pkce: at(place, 'use_pkce').value === undefined ? undefined : flag(at(place, 'use_pkce')),
    oauth_params: params && parameters(params),
  });
}

function url(place: Place): string | undefined {
  const value = text(place, 2_000);
  if (value === undefined || value === '') return undefined;
  if (URL.parse(value)?.protocol !== 'https:') throw new WrongEntry(place, 'must be an https URL');
  return value;
}

function parameters(place: Place): Readonly<Record<string, string>> {
  if (!isObject(place.value)) return {};
  return Object.fromEntries(
    Object.keys(place.value).map((name) => [name, required(at(place, name), text(at(place, name), 2_000))]),
  );
}

function some<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length > 0 ? items : undefined;
}
