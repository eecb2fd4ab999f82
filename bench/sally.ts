import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Started, start } from './processes.ts';

const SALLY = resolve(import.meta.dirname, '../bin/sally.js');

export interface RunningSally extends Started {
  readonly url: string;
}

let runs = 0;

/** `sally run -f URL`: one server, nothing renamed. Several run at once, each under a name of its own. */
export function runSally(backendUrl: string, nodeOptions: readonly string[] = []): Promise<RunningSally> {
  const name = `bench-${process.pid}-${++runs}`;
  return launch(['run', '-f', '--name', name, '--proxy-port', '0', '--format', 'json', backendUrl], nodeOptions);
}

/** `sally vmcp serve`: the servers of a group as one. Their tools are called `NAME_TOOL`. */
export async function serveSally(
  folder: string,
  backendUrls: readonly string[],
  nodeOptions: readonly string[] = [],
  incomingAuth: object = { type: 'anonymous' },
): Promise<RunningSally> {
  await mkdir(folder, { recursive: true });
  const entries = backendUrls.map((url, index) => entryOf(serverName(index), url));
  await writeFile(join(folder, 'bench.yaml'), [gateway(incomingAuth), ...entries].join('---\n'));
  return await launch(['vmcp', 'serve', '-f', folder, '--port', '0', '--format', 'json'], nodeOptions);
}

export function serverName(index: number): string {
  return `b${String(index).padStart(3, '0')}`;
}

async function launch(args: readonly string[], nodeOptions: readonly string[]): Promise<RunningSally> {
  const started = await start('tested', [process.execPath, ...nodeOptions, SALLY, ...args]);
  const { endpoints } = JSON.parse(started.firstLine) as { endpoints: readonly { readonly url: string }[] };
  return { ...started, url: endpoints[0]?.url ?? '' };
}

// JSON is YAML.
const gateway = (incomingAuth: object): string => `apiVersion: sallyport.dev/v1alpha1
kind: VirtualMCPServer
metadata: { name: bench }
spec:
  groupRef: { name: bench }
  incomingAuth: ${JSON.stringify(incomingAuth)}
  outgoingAuth: { source: discovered }
---
apiVersion: sallyport.dev/v1alpha1
kind: MCPGroup
metadata: { name: bench }
spec: { description: Servers that answer at once. }
`;

function entryOf(name: string, url: string): string {
  return `apiVersion: sallyport.dev/v1alpha1
kind: MCPServerEntry
metadata: { name: ${name} }
spec:
  remoteUrl: ${url}
  transport: streamable-http
  allowPrivateEndpoint: true
  groupRef: { name: bench }
`;
}
