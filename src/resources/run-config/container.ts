import { z } from 'zod';
import { isImageReference } from '../fields/image.ts';
import { Text } from '../fields/text.ts';

/** What only means something where the server runs in a container. */

const List = z.array(Text).max(256);
const BaseImage = z.string().refine(isImageReference, 'must be a container image reference');
/** They become arguments of a package manager, where `-` in front would make an option. */
const SYSTEM_PACKAGE = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;
const SystemPackages = z.array(z.string().regex(SYSTEM_PACKAGE, 'must be the name of a system package')).max(64);
const HostPattern = z
  .string()
  .regex(/^\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$|^\[?[0-9A-Fa-f:.]+\]?$/, 'must be a host name or an address');

export const PermissionProfile = z.strictObject({
  name: Text.optional(),
  read: List.default([]),
  write: List.default([]),
  network: z
    .strictObject({
      mode: Text.optional(),
      outbound: z
        .strictObject({
          insecure_allow_all: z.boolean().default(false),
          allow_host: z.array(HostPattern).max(256).default([]),
          allow_port: z.array(z.int().min(1).max(65_535)).max(256).default([]),
        })
        .optional(),
      inbound: z.strictObject({ allow_host: z.array(HostPattern).max(256).default([]) }).optional(),
    })
    .optional(),
  privileged: z.boolean().default(false),
});
export type PermissionProfile = z.output<typeof PermissionProfile>;

/** Of a registry entry, in its own words. */
const Provenance = z.strictObject({
  sigstore_url: Text.optional(),
  repository_uri: Text.optional(),
  repository_ref: Text.optional(),
  signer_identity: Text.optional(),
  runner_environment: Text.optional(),
  cert_issuer: Text.optional(),
  attestation: z.strictObject({ predicate_type: Text.optional(), predicate: z.json().optional() }).optional(),
});

/** What runs a server: a container engine, whichever answers or one by name, or nothing but the system itself. */
export const RuntimeName = z.enum(['container', 'docker', 'podman', 'process']);

export const Container = {
  volumes: List.default([]).describe('HOST-PATH:CONTAINER-PATH[:ro]; host paths are absolute.'),
  publish: z
    .array(z.string().regex(/^([0-9]{1,5}:)?[0-9]{1,5}$/, 'must be HOST-PORT:CONTAINER-PORT'))
    .max(64)
    .default([]),
  network: Text.optional(),
  isolate_network: z.boolean().default(false),
  allow_docker_gateway: z.boolean().default(false),
  permission_profile_name_or_path: Text.optional(),
  permission_profile: PermissionProfile.optional(),
  image_verification: z.enum(['warn', 'enabled', 'disabled']).optional(),
  image_provenance: Provenance.optional().describe('Who must have signed the image, as the registry says.'),
  image_digest: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 digits')
    .optional()
    .describe('What the tag meant when it was run or updated; this is what runs.'),
  memory: z
    .string()
    .regex(/^[1-9][0-9]{0,6}[kmg]$/, 'must be a number with k, m or g, as in 512m')
    .optional()
    .describe('Most memory the container may use; 2g when left out.'),
  pids_limit: z.int().min(1).max(1_000_000).optional().describe('Most processes in the container; 512 when left out.'),
  read_only_root: z
    .boolean()
    .optional()
    .describe('Whether the files of the image stay as they are. Tried first when left out.'),
  ca_cert: Text.optional().describe('Certificate for builds, an absolute path.'),
  runtime_config: z
    .strictObject({ builder_image: BaseImage.optional(), additional_packages: SystemPackages.default([]) })
    .optional()
    .describe('For images that are built from packages.'),
  ignore_config: z
    .strictObject({ load_global: z.boolean().default(true), print_overlays: z.boolean().default(false) })
    .optional(),
} as const;

/** The fields above by name, for whoever has to refuse them. */
export const CONTAINER_FIELDS = Object.keys(Container) as readonly (keyof typeof Container)[];
