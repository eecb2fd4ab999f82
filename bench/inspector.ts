import { freePort } from './backend.ts';

/** Looks into the memory of a Node process through its inspector: what is really kept shows only after a collection. */
export interface Inspector {
  readonly nodeOptions: readonly string[];
  /** Bytes that are in use after everything unused was collected: JavaScript objects and buffers. */
  bytesInUse(): Promise<number>;
}

export async function createInspector(): Promise<Inspector> {
  const port = await freePort();
  return {
    nodeOptions: [`--inspect=127.0.0.1:${port}`],
    async bytesInUse() {
      const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
        webSocketDebuggerUrl: string;
      }[];
      const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '');
      await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
      try {
        // Twice: what the first collection finalizes is freed by the second.
        await ask(socket, 1, 'HeapProfiler.collectGarbage', {});
        await ask(socket, 2, 'HeapProfiler.collectGarbage', {});
        const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())';
        const { result } = (await ask(socket, 3, 'Runtime.evaluate', { expression, returnByValue: true })) as {
          result: { value: number };
        };
        return result.value;
      } finally {
        socket.close();
      }
    },
  };
}

function ask(socket: WebSocket, id: number, method: string, params: object): Promise<unknown> {
  return new Promise((resolve) => {
    const listener = ({ data }: MessageEvent): void => {
      const message = JSON.parse(String(data)) as { id?: number; result?: unknown };
      if (message.id !== id) return;
      socket.removeEventListener('message', listener);
      resolve(message.result);
    };
    socket.addEventListener('message', listener);
    socket.send(JSON.stringify({ id, method, params }));
  });
}
