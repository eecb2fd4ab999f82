import { Pool } from 'undici';
import { legacy, legacyCall, legacyInitialize, type Message, toolName } from './messages.ts';

/** Opens and ends many sessions quickly. `call: true` makes each do one tool call, so that the backend knows it too. */
export interface Visitors extends AsyncDisposable {
  open(count: number, options: { readonly call: boolean }): Promise<readonly string[]>;
  end(sessions: readonly string[]): Promise<void>;
}

export function createVisitors(url: string): Visitors {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections: 16 });

  async function post({ headers, body }: Message): Promise<string> {
    const answer = await pool.request({ path, method: 'POST', headers, body });
    await answer.body.dump();
    if (answer.statusCode >= 300) throw new Error(`${url} answered ${answer.statusCode}`);
    return String(answer.headers['mcp-session-id'] ?? '');
  }

  async function visit(call: boolean): Promise<string> {
    const session = await post(legacyInitialize());
    const { headers } = legacy(session, '', {});
    await post({ headers, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' });
    if (call) await post(legacyCall(session, toolName(0)));
    return session;
  }

  return {
    async open(count, { call }) {
      const sessions: string[] = [];
      await inParallel(16, count, async () => void sessions.push(await visit(call)));
      return sessions;
    },
    async end(sessions) {
      await inParallel(16, sessions.length, async (index) => {
        const headers = { 'mcp-session-id': sessions[index] ?? '' };
        await (await pool.request({ path, method: 'DELETE', headers })).body.dump();
      });
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

async function inParallel(workers: number, count: number, task: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: workers }, work));
}
