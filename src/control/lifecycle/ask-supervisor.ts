import type { LiveStatus } from './control-socket.ts';

/** Asks the supervisor of an instance, or asks it to stop. `undefined` when nobody answers, or somebody else does. */
export async function askSupervisor(
  { socket, instance }: { readonly socket: string; readonly instance: string },
  what: 'status' | 'stop' = 'status',
): Promise<LiveStatus | undefined> {
  try {
    const { askSocket } = await import('../ask-socket.ts'); // with HTTP, which a command that asks nobody does not load
    const status = JSON.parse(await askSocket(socket, what === 'stop' ? 'POST' : 'GET', `/${what}`)) as LiveStatus;
    return status.instance === instance ? status : undefined;
  } catch {
    return undefined; // gone, or hangs: its identity tells which
  }
}
