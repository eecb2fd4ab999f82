import { SallyError } from '../base/index.ts';
import type { PermissionProfile, RunConfig } from '../resources/index.ts';
import { BUILT_IN, isBuiltIn } from '../workloads/index.ts';

/** The profile that counts for a configuration. A name that nobody has read by now restricts nothing, and so does not count as one. */
export function profileOf({ permission_profile, permission_profile_name_or_path: name }: RunConfig): PermissionProfile {
  if (permission_profile) return permission_profile;
  if (name === undefined) return BUILT_IN.network;
  if (isBuiltIn(name)) return BUILT_IN[name];
  throw new SallyError('config.unsupported', `the permission profile ${name} was never read`, {
    hint: 'run the server anew with --permission-profile',
  });
}
