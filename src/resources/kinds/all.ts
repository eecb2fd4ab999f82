import type { z } from 'zod';
import type { Metadata } from '../fields/metadata.ts';
import type { Origin } from '../validate/problem.ts';
import { ConfigMap } from './config-map.ts';
import type { Kind } from './kind.ts';
import { MCPExternalAuthConfig } from './mcp-external-auth-config.ts';
import { MCPGroup } from './mcp-group.ts';
import { MCPOIDCConfig } from './mcp-oidc-config.ts';
import { MCPServer } from './mcp-server.ts';
import { MCPServerEntry } from './mcp-server-entry.ts';
import { SecretKind } from './secret.ts';
import { VirtualMCPServer } from './virtual-mcp-server.ts';

/** Every kind we know, in the order in which people meet them. */
const DECLARED = {
  VirtualMCPServer,
  MCPGroup,
  MCPServer,
  MCPServerEntry,
  MCPExternalAuthConfig,
  MCPOIDCConfig,
  Secret: SecretKind,
  ConfigMap,
} as const;

export type KindName = keyof typeof DECLARED;
export const KINDS = Object.keys(DECLARED) as readonly KindName[];

export function isKindName(text: unknown): text is KindName {
  return typeof text === 'string' && Object.hasOwn(DECLARED, text);
}

export function kindOf(name: KindName): Kind {
  return DECLARED[name];
}

/** A resource of one kind: checked, with its defaults, and knowing where it was written. */
export type ResourceOf<K extends KindName> = { [Each in K]: Typed<Each> }[K];
export type Resource = ResourceOf<KindName>;

type Typed<K extends KindName> = Readonly<z.output<(typeof DECLARED)[K]['body']>> & {
  readonly kind: K;
  readonly metadata: Metadata;
  readonly origin: Origin;
};
