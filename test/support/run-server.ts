import { SERVER_IMAGE } from './engine.ts';
import { connectClient } from './sally.ts';
import type { WorkloadHome } from './workloads.ts';

export interface RunningServer extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  /** What a tool says; an error of it begins with `ERR`. */
  call(tool: string, args?: Record<string, unknown>): Promise<string>;
}

/** Runs a server in the background, with a session to it. */
export async function runServer(
  home: WorkloadHome,
  flags: readonly string[] = [],
  server = SERVER_IMAGE,
): Promise<RunningServer> {
  const end = flags.includes('--') ? flags.indexOf('--') : flags.length;
  const words = ['run', server, ...flags.slice(0, end), '--format', 'json', ...flags.slice(end)];
  const { name, url } = JSON.parse(await home.ok(words)) as { name: string; url: string };
  const session = await connectClient(url);
  return {
    name,
    url,
    async call(tool, args = {}) {
      const { content, isError } = await session.client.callTool({ name: tool, arguments: args });
      return `${isError ? 'ERR ' : ''}${(content[0] as { text: string }).text}`;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
