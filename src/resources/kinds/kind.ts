import { z } from 'zod';
import { DomainMetadata, LabelMetadata } from '../fields/metadata.ts';

export const GROUP = 'sallyport.dev';
export const VERSION = 'v1alpha1';

/** Manifests written for ToolHive load as they are, as far as we have their kinds and fields. */
const OUR_VERSIONS = [
  `${GROUP}/${VERSION}`,
  'toolhive.stacklok.dev/v1alpha1',
  'toolhive.stacklok.dev/v1beta1',
] as const;
const CORE_VERSIONS = ['v1'] as const;

/** A column that `kubectl get` prints. */
export interface Column {
  readonly name: string;
  readonly path: string;
}

/** What a kind's file states. Types, validation, JSON Schema, CRD and docs are all read from it. */
interface Declaration<Name extends string, Body extends z.ZodObject> {
  readonly kind: Name;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** `core` for the kinds of Kubernetes itself, which we read but do not define. */
  readonly api: 'ours' | 'core';
  /** `label` when the name becomes a host or container name; `domain` allows dots. */
  readonly names: 'label' | 'domain';
  readonly columns: readonly Column[];
  /** Markdown: what the kind is for, then what to know about it. */
  readonly about: string;
  /** YAML that stands on the kind's page; a test validates it. */
  readonly example: string;
  /** The fields beside apiVersion, kind, metadata and status. */
  readonly body: Body;
}

export interface Kind<Name extends string = string, Body extends z.ZodObject = z.ZodObject>
  extends Declaration<Name, Body> {
  readonly apiVersions: readonly string[];
  /** The whole manifest. */
  readonly schema: z.ZodObject;
}

export function defineKind<const Name extends string, Body extends z.ZodObject>(
  declaration: Declaration<Name, Body>,
): Kind<Name, Body> {
  const apiVersions = declaration.api === 'ours' ? OUR_VERSIONS : CORE_VERSIONS;
  const schema = z.strictObject({
    apiVersion: z.enum(apiVersions).describe('API group and version.'),
    kind: z.literal(declaration.kind).describe('Kind of the resource.'),
    metadata: (declaration.names === 'label' ? LabelMetadata : DomainMetadata).describe('Name and labels.'),
    ...declaration.body.shape,
    status: z.unknown().optional().describe('Written by a controller; read and ignored here.'),
  });
  return { ...declaration, apiVersions, schema };
}
