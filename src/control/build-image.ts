import { resolve } from 'node:path';
import { SallyError } from '../base/index.ts';
import { isImageReference, parsePackageReference } from '../resources/index.ts';
import { ensureBuilt } from '../workloads/images/index.ts';
import { connectEngine, type EngineKind, reap } from '../workloads/index.ts';
import type { RuntimeParts } from './runtime.ts';

export interface BuildWish {
  readonly server: string;
  readonly tag?: string | undefined;
  readonly runtime?: EngineKind | undefined;
  readonly base?: string | undefined;
  readonly packages: readonly string[];
  readonly caCert?: string | undefined;
  readonly fresh: boolean;
}

/** Makes the image of a package and gives its id. */
export async function buildImage({ server, runtime, tag, ...order }: BuildWish, parts: RuntimeParts): Promise<string> {
  const reference = parsePackageReference(server);
  if (!reference) {
    throw new SallyError('workload.reference_invalid', `${server} is not a package that can be built`, {
      hint: 'use npx://PACKAGE[@VERSION], uvx://PACKAGE[@VERSION], go://MODULE[@VERSION] or go://./FOLDER',
    });
  }
  if (tag !== undefined && (!isImageReference(tag) || tag.includes('@')))
    throw new SallyError('usage.invalid', `${tag} cannot name an image`, { hint: 'as in registry.example.com/time:1' });
  const engine = await connectEngine(parts.env, runtime);
  await reap(engine, parts.env, parts.log);
  return await ensureBuilt({ ...order, reference, tag, from: resolve('.') }, { ...parts, engine });
}
