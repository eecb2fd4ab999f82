import type { PartName, Ports } from './ports.ts';

export interface Part {
  readonly name: PartName;
  readonly command: readonly [program: 'node' | 'sally' | 'redis-server' | 'redis-sentinel', ...args: string[]];
}

export interface Places {
  readonly ports: Ports;
  /** The folder that `prepare.ts` filled. */
  readonly data: string;
  /** The folder with the YAML files. */
  readonly resources: string;
}

const HERE = 'examples/two-providers-sentinel';

/** What runs, in the order of its start: each group needs the ones before it. The README has the same lines, to be typed in. */
export function partsOf({ ports, data, resources }: Places): readonly (readonly Part[])[] {
  const url = (name: PartName) => `http://127.0.0.1:${ports[name]}`;
  const redis = (name: 'redis-1' | 'redis-2'): Part => ({ name, command: ['redis-server', `${data}/${name}.conf`] });
  const sentinel = (name: 'sentinel-1' | 'sentinel-2' | 'sentinel-3'): Part => ({
    name,
    command: ['redis-sentinel', `${data}/${name}.conf`],
  });
  const provider = (name: 'corp' | 'hub'): Part => ({
    name,
    command: [
      ...(['node', 'examples/identity-provider/main.ts', '--name', name, '--port', `${ports[name]}`] as const),
      ...['--client-secret-file', `${data}/secrets/${name}-client/secret`],
    ],
  });
  const server = (name: 'tickets' | 'code' | 'reports', at: 'corp' | 'hub', ...more: string[]): Part => ({
    name,
    command: [
      ...(['node', `${HERE}/server.ts`, '--name', name, '--port', `${ports[name]}`, '--provider', url(at)] as const),
      ...more,
    ],
  });
  const gateway = (name: 'gateway-1' | 'gateway-2'): Part => ({
    name,
    command: [
      ...(['sally', 'vmcp', 'serve', '-f', resources, '--port', `${ports[name]}`] as const),
      ...['--secrets-dir', `${data}/secrets`],
    ],
  });
  const balancer: Part = {
    name: 'balancer',
    command: [
      ...(['node', `${HERE}/balancer.ts`] as const),
      ...[ports.balancer, ports['gateway-1'], ports['gateway-2']].map(String),
    ],
  };
  return [
    [redis('redis-1'), redis('redis-2')],
    [sentinel('sentinel-1'), sentinel('sentinel-2'), sentinel('sentinel-3')],
    [provider('corp'), provider('hub')],
    [server('tickets', 'corp'), server('code', 'hub'), server('reports', 'corp', '--audience', 'reports')],
    [gateway('gateway-1'), gateway('gateway-2')],
    [balancer],
  ];
}

/** What a person types in for it. */
export function commandLine({ command: [program, ...args] }: Part): string {
  const own = program === 'node' || program === 'sally';
  return [...(own ? ['npx', program] : [program]), ...args].join(' ');
}
