import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Log, type Route, SallyError } from '../base/index.ts';
import type { RequestId } from '../mcp/index.ts';
import { ALGORITHMS } from '../oauth/index.ts';
import type { GatewayPlan } from '../plan/index.ts';
import { CallerRefused } from './call.ts';
import { type Checkers, createIncoming, type Identify, type OwnTokens } from './incoming/index.ts';
import {
  type Access,
  challengeHeaders,
  createMetadata,
  createPublicUrl,
  metadataPath,
  metadataUrl,
  refuse,
} from './listener/index.ts';

export interface EntranceParts {
  readonly access: Access;
  readonly checkers: Checkers;
  readonly ownTokens?: OwnTokens;
  /** No other gateway shares the listener, so the metadata may stand at the root as well. */
  readonly alone: boolean;
  readonly log: Log;
}

/** Boundary 1 of one gateway, as HTTP shows it: who may in, what the others are told, and where tokens come from. */
export interface Entrance {
  readonly identify: Identify;
  /** Ends a request that may not go on, with a challenge where a token would help. */
  refuse(request: IncomingMessage, response: ServerResponse, error: unknown, id: RequestId | undefined): void;
  /** The metadata of what is served at these paths (RFC 9728). */
  routesFor(paths: readonly [string, ...string[]]): readonly Route[];
  /** Names by which the gateway is called, besides those of the listener. */
  readonly hosts: readonly string[];
  close(): Promise<void>;
}

/** How long a client waits before it asks again, in seconds. */
const RETRY_AFTER = '5';

export function createEntrance({ name, incoming }: GatewayPlan, parts: EntranceParts): Entrance {
  const { access, log } = parts;
  const resource = incoming.kind === 'anonymous' ? undefined : incoming.resource;
  const publicUrl = createPublicUrl(resource, access);
  const boundary = createIncoming(incoming, { ...parts, endpoint: name, urlsOf, now: Date.now });

  /** With a configured resource also its other paths count, by the same host. */
  function urlsOf(request: IncomingMessage): readonly string[] {
    const path = pathOf(request);
    const url = publicUrl(request, path);
    return resource === undefined ? [url] : [url, new URL(path, resource).href];
  }

  function headersFor(request: IncomingMessage, error: unknown): Readonly<Record<string, string | readonly string[]>> {
    if (error instanceof CallerRefused) {
      const where = boundary.issuer ? { metadataUrl: metadataUrl(publicUrl(request, pathOf(request))) } : {};
      const facts = { ...where, dpopAlgorithms: ALGORITHMS };
      return { 'www-authenticate': challengeHeaders(error.message, error.challenge, facts) };
    }
    if (!(error instanceof SallyError)) return {};
    if (error.code === 'outgoing.login_needed') {
      // The token itself is good; a new login is what helps, and this is how clients are told to make one.
      const challenge = { error: 'invalid_token', scopes: [], dpop: false } as const;
      const where = { metadataUrl: metadataUrl(publicUrl(request, pathOf(request))), dpopAlgorithms: ALGORITHMS };
      return { 'www-authenticate': challengeHeaders(error.message, challenge, where) };
    }
    return error.face.http === 503 ? { 'retry-after': RETRY_AFTER } : {};
  }

  return {
    identify: boundary.identify,

    refuse(request, response, error, id) {
      refuse(response, error, id, log, headersFor(request, error));
    },

    routesFor(paths) {
      const { issuer } = boundary;
      if (incoming.kind === 'anonymous' || !issuer) return [];
      const facts = { name, publicUrl, fixed: resource !== undefined, issuer, scopes: incoming.scopes, log };
      const places = new Map(paths.map((path) => [metadataPath(path), path]));
      // Where the public path is another one, for instance behind a proxy that takes a prefix away, clients look there.
      if (resource !== undefined) places.set(metadataPath(new URL(resource).pathname), paths[0]);
      if (parts.alone) places.set(metadataPath('/'), paths[0]);
      return [...places].map(([place, path]) => ({
        path: place,
        authentication: 'none',
        pages: 'any',
        handler: createMetadata({ ...facts, dpopAlgorithms: ALGORITHMS }, path),
      }));
    },

    hosts: resource === undefined ? [] : [new URL(resource).hostname],

    close: () => boundary.release(),
  };
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}
