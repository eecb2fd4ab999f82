import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandLine, partsOf } from './parts.ts';
import { freePorts, PORTS, type Ports, takenPort } from './ports.ts';
import { prepare } from './prepare.ts';
import { createProcesses, type Processes } from './processes.ts';
import { untilReady } from './ready.ts';

/**
 * The whole example with one command, NOT FOR PRODUCTION; Ctrl-C ends all of it:
 *
 *     node examples/two-providers-sentinel/start.ts [--free-ports]
 *
 * `--free-ports` listens elsewhere when the ports in the YAML files are taken; the addresses in a copy of them follow.
 */
const { values } = parseArgs({ options: { 'free-ports': { type: 'boolean', default: false } } });
const isMoved = values['free-ports'];
const ports = isMoved ? await freePorts() : PORTS;

const taken = await takenPort(ports);
if (taken !== undefined) {
  process.stderr.write(`port ${ports[taken]}, where ${taken} listens, is taken; --free-ports takes others\n`);
  process.exit(5);
}

const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
});
const data = await mkdtemp(join(tmpdir(), 'sallyport-sentinel-'));
const processes = createProcesses(data, (name, how) => say(`${name} has ended: ${how}`));
try {
  await prepare(data, ports);
  await Promise.race([startAll(processes), stopped]);
  await stopped;
} catch (error) {
  process.stderr.write(`${(error as Error).message}; ${join(data, 'logs')} tells more\n`);
  process.exitCode = 1;
} finally {
  await processes.end();
  // What was written down about a failure stays.
  if (process.exitCode !== 1) await rm(data, { recursive: true, force: true });
}

async function startAll({ start, broken }: Processes): Promise<void> {
  const resources = isMoved ? await movedResources(ports) : 'examples/two-providers-sentinel';
  say('NOT FOR PRODUCTION: everybody can log in as anybody, and nothing is encrypted.\n');
  for (const group of partsOf({ ports, data, resources })) {
    for (const part of group) {
      const pid = start(part);
      say(`${part.name.padEnd(11)} ${String(ports[part.name]).padStart(5)}  process ${pid}  ${commandLine(part)}`);
    }
    for (const { name } of group) await untilReady(name, { ports, data, broken });
  }
  const urls = ['balancer', 'gateway-1', 'gateway-2'] as const;
  const elsewhere = isMoved ? ` ${urls.map((name) => `http://127.0.0.1:${ports[name]}/mcp`).join(' ')}` : '';
  say(`\nReady. Secrets, data and logs are in ${data}, until this ends.\n`);
  say(`Log in and call:         npx node examples/two-providers-sentinel/client.ts${elsewhere}`);
  say(`Kill the Redis master:   kill -9 $(cat ${data}/redis-1.pid)`);
  say('Ctrl-C stops everything.');
}

/** The YAML files with other ports. They stand in them because tokens are bound to addresses. */
async function movedResources(to: Ports): Promise<string> {
  const moved = new Map(Object.entries(PORTS).map(([name, port]) => [String(port), to[name as keyof Ports]]));
  const folder = await mkdtemp(join(data, 'resources-'));
  for (const file of ['gateway.yaml', 'backends.yaml']) {
    const text = await readFile(join(import.meta.dirname, file), 'utf8');
    const address = /(?<=127\.0\.0\.1:)\d+/g;
    await writeFile(
      join(folder, file),
      text.replaceAll(address, (port) => String(moved.get(port))),
    );
  }
  return folder;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
