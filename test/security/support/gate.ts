import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { groupYaml, serverYaml } from '../../support/mcp-servers.ts';
import { type RunningSally, startSally, tempFolder } from '../../support/sally.ts';
import { entryYaml, installPipeServer } from './servers.ts';

export interface Gate extends AsyncDisposable {
  readonly url: URL;
  readonly sally: RunningSally;
  /** Fails when the process died or met a bug. */
  stillWell(): void;
}

export interface GateOptions {
  /** Servers elsewhere, by name. */
  readonly web?: Readonly<Record<string, string>>;
  /** Servers on stdio, by name: what each does instead of answering, as source text. */
  readonly pipes?: Readonly<Record<string, string | undefined>>;
  /** More lines for the spec of each stdio server. */
  readonly extra?: string;
}

/** A really started gateway in front of a group of these servers. */
export async function startGate({ web = {}, pipes = {}, extra = '' }: GateOptions): Promise<Gate> {
  const folder = await tempFolder();
  for (const [name, other] of Object.entries(pipes)) await installPipeServer(folder.path, name, other);
  const yaml = [
    groupYaml([]),
    ...Object.entries(web).map(([name, url]) => entryYaml(name, url)),
    ...Object.keys(pipes).map((name) => serverYaml(name, { extra })),
  ].join('---\n');
  await writeFile(join(folder.path, 'group.yaml'), yaml);
  const sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
  return toGate(sally, async () => await folder[Symbol.asyncDispose]());
}

/** A really started gateway that passes everything on to one server. */
export async function startPassThrough(target: string): Promise<Gate> {
  return toGate(await startSally(['run', '-f', target]), async () => {});
}

function toGate(sally: RunningSally, dispose: () => Promise<void>): Gate {
  return {
    url: new URL(sally.endpoints[0]?.url ?? ''),
    sally,
    stillWell() {
      const { exitCode, signalCode } = sally.process;
      if (exitCode !== null || signalCode !== null)
        throw new Error(`the gateway ended (${exitCode ?? signalCode}):\n${sally.stderr().slice(-4_000)}`);
      const bugs = sally
        .stderr()
        .split('\n')
        .filter((line) => line.includes('met a bug') && !line.includes('aborted'));
      if (bugs.length > 0) throw new Error(`a bug:\n${bugs.join('\n').slice(-4_000)}`);
    },
    async [Symbol.asyncDispose]() {
      await sally.stop('SIGTERM');
      await dispose();
    },
  };
}
