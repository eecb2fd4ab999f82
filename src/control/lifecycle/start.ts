import { randomBytes } from 'node:crypto';
import { isSameProcess } from '../../base/files/index.ts';
import { SallyError } from '../../base/index.ts';
import type { RunConfig } from '../../resources/index.ts';
import type { WorkloadRecord, WorkloadStore } from '../../workloads/index.ts';
import type { SaidSecrets } from '../remote-flags.ts';
import { type CalledSupervisor, callSupervisor } from './call-supervisor.ts';
import { endSupervisor } from './end-supervisor.ts';
import { gatherSecrets, type HandedSecrets, withSaid } from './handed-secrets.ts';
import type { LifecycleParts } from './parts.ts';
import { known, unknown } from './select.ts';
import { untilReady } from './until-ready.ts';

export interface StartOptions {
  /** Come back when the server answers; otherwise as soon as its supervisor was called. */
  readonly wait: boolean;
  readonly debug: boolean;
}

export interface Started {
  readonly name: string;
  /** Where it answers; missing when nobody waited, or when it was stopped meanwhile. */
  readonly url?: string;
  /** It ran already. */
  readonly already: boolean;
}

/** A new life of a supervisor. Short, since it is part of the path of a socket. */
export function newInstance(): string {
  return randomBytes(12).toString('hex');
}

/** Writes down a workload that is new. Of two commands with one name at once, one succeeds. */
export async function create(
  config: RunConfig,
  parts: LifecycleParts,
  { ephemeral = false } = {},
): Promise<WorkloadRecord & { readonly instance: string }> {
  const { store, groups } = parts;
  const { name } = config;
  return await store.alone(name, async () => {
    await refuseTaken(name, parts);
    const instance = newInstance();
    const record = { config, createdAt: new Date().toISOString(), wanted: 'running', ephemeral, instance } as const;
    // A group that is being removed takes nobody in any more.
    await groups.alone(async () => {
      await groups.check(config.group);
      await store.write(name, record).catch(async (error: unknown) => {
        await store.remove(name); // its folder may be there, and must not look like a broken workload
        throw error;
      });
    });
    return record;
  });
}

async function refuseTaken(name: string, { store }: LifecycleParts): Promise<void> {
  if (!(await store.names()).includes(name)) return;
  const record = await store.read(name);
  const supervisor = await store.readSupervisor(name);
  const alive = supervisor !== undefined && isSameProcess(supervisor);
  // What a command in the foreground left behind when it was killed means nothing to anybody; nor does an empty folder.
  if (!alive && (!record || (record.ephemeral && supervisor))) return await store.remove(name);
  throw new SallyError('workload.exists', `there is a workload ${name} already`, {
    hint: alive
      ? `choose another name with --name, change it with: sally update ${name}, or remove it with: sally rm ${name}`
      : `start it with: sally start ${name}, remove it with: sally rm ${name}, or choose another name with --name`,
  });
}

/** Runs a new workload in the background, with the secrets that were said for it. One that does not come up leaves nothing behind. */
export async function runDetached(
  config: RunConfig,
  parts: LifecycleParts,
  { wait, debug, said = new Map() }: StartOptions & { readonly said?: SaidSecrets },
): Promise<Started> {
  const { name } = config;
  const secrets = await secretsFor(config, parts, said);
  const { instance } = await create(config, parts);
  try {
    if (said.size > 0) await (await parts.secrets()).keepNamed(said);
    const { child, hand } = await callSupervisor(name, { instance, debug }, parts);
    await hand({ config, secrets });
    if (!wait) return { name, already: false };
    const url = await untilReady(name, { child, instance }, parts);
    if (url !== undefined) return { name, url, already: false };
  } catch (error) {
    await discard(name, instance, said, parts);
    throw error;
  }
  await discard(name, instance, said, parts);
  throw new SallyError('workload.not_answering', `${name} was stopped before it answered`, {
    hint: 'nothing of it is left; run it again',
  });
}

function secretsFor(
  config: RunConfig,
  { secrets }: LifecycleParts,
  said: SaidSecrets = new Map(),
): Promise<HandedSecrets> {
  const kept = async (references: readonly string[]) => (await secrets()).resolverFor(config.name)(references);
  return gatherSecrets(config, withSaid(kept, said));
}

/** Takes back what one command began, unless another one has taken it over. */
async function discard(name: string, instance: string, said: SaidSecrets, parts: LifecycleParts): Promise<void> {
  const { store } = parts;
  await store.alone(name, async () => {
    if ((await store.read(name))?.instance !== instance) return;
    await endSupervisor(name, await store.readSupervisor(name));
    await store.remove(name);
    await forgetKept(name, (secret) => said.has(secret), said.size > 0, parts);
  });
}

/** Forgets values that nothing refers to any more. That this fails is told, and is no reason for the rest to fail. */
export async function forgetKept(
  workload: string,
  isMeant: (secret: string) => boolean,
  isNeeded: boolean,
  { secrets, log }: Pick<LifecycleParts, 'secrets' | 'log'>,
): Promise<void> {
  if (!isNeeded) return; // a store that is locked is not opened for nothing
  try {
    await (await secrets()).forget(workload, isMeant);
  } catch (error) {
    log.warn('secrets that were kept for a workload are still there', { workload, error });
  }
}

async function isRunning(name: string, store: WorkloadStore): Promise<boolean> {
  const supervisor = await store.readSupervisor(name);
  return supervisor !== undefined && isSameProcess(supervisor);
}

/** Starts a workload that is known. One that runs already is left alone. */
export async function start(name: string, parts: LifecycleParts, { wait, debug }: StartOptions): Promise<Started> {
  const instance = newInstance();
  const supervisor = (await isRunning(name, parts.store)) ? undefined : await callEarly(name, instance, debug, parts);
  const isTaken = supervisor !== undefined && (await takeUp(name, instance, supervisor, parts));
  const called = isTaken ? { child: supervisor.child, instance } : { child: undefined, instance: undefined };
  const url = wait ? await untilReady(name, called, parts) : undefined;
  return { name, already: !isTaken, ...(url === undefined ? {} : { url }) };
}

/** It loads while we look up what to hand to it. */
async function callEarly(
  name: string,
  instance: string,
  debug: boolean,
  parts: LifecycleParts,
): Promise<CalledSupervisor> {
  if (!(await parts.store.names()).includes(name)) throw await unknown(name, parts.store);
  return await callSupervisor(name, { instance, debug }, parts);
}

/** Whether the supervisor was needed: another command may have been faster. */
async function takeUp(
  name: string,
  instance: string,
  supervisor: CalledSupervisor,
  parts: LifecycleParts,
): Promise<boolean> {
  const { store } = parts;
  try {
    const secrets = await secretsFor((await known(name, store)).config, parts);
    const config = await store.alone(name, async () => {
      const record = await known(name, store);
      if (await isRunning(name, store)) return undefined;
      await endSupervisor(name, await store.readSupervisor(name)); // clears away what a killed one left
      await store.write(name, { ...record, wanted: 'running', ephemeral: false, instance });
      return record.config;
    });
    if (config) await supervisor.hand({ config, secrets });
    else supervisor.dismiss();
    return config !== undefined;
  } catch (error) {
    supervisor.dismiss();
    throw error;
  }
}
