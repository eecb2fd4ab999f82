/** From flags, files and the registry to a configuration that can be started. A door of its own: most commands find it made. */
export { askAgain } from '../ask-again.ts';
export { type BuildWish, buildImage } from '../build-image.ts';
export { adopt, configure, type RunFlags, reconfigure } from '../configure.ts';
export { withDeclared } from '../declared.ts';
export { type EgressAnswer, explainEgress } from '../egress.ts';
export { type RemoteFlags, type SaidConfig, type SaidSecrets, withRemoteFlags } from '../remote-flags.ts';
export { hasEngine, prepareRuntime, type RegistryPermissions } from '../runtime.ts';
export { type LookUp, resolveSource } from '../source.ts';
