import type { Secret } from '../base/index.ts';
import type { EgressRules } from './permissions/egress.ts';
import type { Mount } from './permissions/mounts.ts';
import type { EngineAddress } from './runtimes/engine/address.ts';

/** The variables of a process, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What must run, made for one runtime. A secret stays a `Secret` in here; only the start itself reveals it. */
export type Launch = ProcessLaunch | ContainerLaunch;

export interface ProcessLaunch {
  /** Which runtime it is made for. A plain process where nothing is said. */
  readonly kind?: 'process';
  /** The workload's name, for logs and errors. */
  readonly name: string;
  readonly command: string;
  /** Visible to every user of the machine through `ps`, so secrets never go here. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | Secret>>;
  readonly cwd?: string;
  /** The command is a package tool that fetches the server first, and gets its own settings from our environment. */
  readonly tool?: 'npm' | 'uv' | 'go';
  /** What keeps it from the rest of the machine. Without it the server may do what its user may. */
  readonly confinement?: Confinement;
}

/** The walls around a process, built by bubblewrap. What is not said here the server does not see. */
export interface Confinement {
  /** The program that builds them. */
  readonly bwrap: string;
  /** Files and folders of this machine that the server needs to run, in the same place and read-only. */
  readonly needs: readonly string[];
  readonly mounts: readonly Mount[];
  readonly network: ConfinedNetwork;
  /** Where a server that speaks HTTP listens inside, and the socket on which we hand its port out. */
  readonly listens?: { readonly port: number; readonly socket: string };
}

/** How a confined process reaches the world: not at all, through our proxy, or as every process of this machine does. */
export type ConfinedNetwork = Extract<ContainerNetwork, { kind: 'none' | 'isolated' }> | { readonly kind: 'open' };

/** A container, and everything that confines it. What is not said here it does not get. */
export interface ContainerLaunch {
  readonly kind: 'container';
  readonly name: string;
  readonly engine: EngineAddress;
  /** The id of an image that the engine has: what was looked at is what runs, whatever a tag means by then. */
  readonly image: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | Secret>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly network: ContainerNetwork;
  readonly privileged: boolean;
  readonly memoryBytes: number;
  readonly pids: number;
  /** `auto` tries it read-only, and takes that back when the server says that it cannot work so. */
  readonly root: 'read-only' | 'writable' | 'auto';
  /** Where a server that speaks HTTP listens inside, and the socket on which we hand its port out. */
  readonly listens?: { readonly port: number; readonly socket: string };
  /** The image with Node.js in which our relay runs, where the launch needs one. */
  readonly relayImage?: string;
}

/** How a container reaches the world. */
export type ContainerNetwork =
  | { readonly kind: 'none' }
  /** No network but our proxy, which lets through what the rules allow. */
  | { readonly kind: 'isolated'; readonly rules: EgressRules }
  | { readonly kind: 'bridge'; readonly publish: readonly PublishedPort[] }
  | { readonly kind: 'named'; readonly name: string };

/** Further ports that somebody asked for. They are bound to loopback. */
export interface PublishedPort {
  readonly host: number | undefined;
  readonly container: number;
}
