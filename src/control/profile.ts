import { SallyError } from '../base/index.ts';
import type { PermissionProfile, RunConfig } from '../resources/index.ts';
import { BUILT_IN, type ContainerNetwork, isBuiltIn, networkOf, parsePort } from '../workloads/index.ts';

/** The profile that counts for a configuration. A name that nobody has read by now restricts nothing, and so does not count as one. */
export function profileOf({ permission_profile, permission_profile_name_or_path: name }: RunConfig): PermissionProfile {
  if (permission_profile) return permission_profile;
  if (name === undefined) return BUILT_IN.network;
  if (isBuiltIn(name)) return BUILT_IN[name];
  throw new SallyError('config.unsupported', `the permission profile ${name} was never read`, {
    hint: 'run the server anew with --permission-profile',
  });
}

/** The network that a configuration asks for, by its profile and its own words. */
export function networkFor(config: RunConfig): ContainerNetwork {
  return networkOf(profileOf(config), {
    mode: config.network,
    isolate: config.isolate_network,
    gateway: config.allow_docker_gateway,
    publish: config.publish.map(parsePort),
    listens: config.transport !== 'stdio',
  });
}
