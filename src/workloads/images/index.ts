/** Images for containers: fetched from a registry, or built from a package. A door of its own, since most commands build nothing. */
export { ensureBuilt } from './build.ts';
export { type ObtainedImage, obtainImage, type Verification } from './obtain.ts';
export { ensureImage, type ImageParts, type Progress } from './pull.ts';
