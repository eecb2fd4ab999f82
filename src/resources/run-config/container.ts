import { z } from 'zod';
import { Text } from '../fields/text.ts';

/** What only means something where the server runs in a container. */

const List = z.array(Text).max(256);
const HostPattern = z
  .string()
  .regex(/^\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$|^\[?[0-9A-Fa-f:.]+\]?$/, 'must be a host name or an address');

const PermissionProfile = z.strictObject({
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
  ca_cert: Text.optional().describe('Certificate for builds, an absolute path.'),
  runtime_config: z.strictObject({ builder_image: Text.optional(), additional_packages: List.default([]) }).optional(),
  ignore_config: z
    .strictObject({ load_global: z.boolean().default(true), print_overlays: z.boolean().default(false) })
    .optional(),
} as const;

/** The fields above by name, for whoever has to refuse them. */
export const CONTAINER_FIELDS = Object.keys(Container) as readonly (keyof typeof Container)[];
