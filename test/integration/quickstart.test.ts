import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, processesWith } from '../support/processes.ts';
import { connectClient, type RunningSally, startSally } from '../support/sally.ts';

describe('the quickstart', () => {
  const MARK = `quickstart-${process.pid}`;
  let sally: RunningSally;
  let url: string;
  beforeAll(async () => {
    sally = await startSally(['vmcp', 'serve', '-f', 'examples/quickstart', '--port', '0'], {
      env: { XDG_TEST_MARK: MARK },
    });
    url = sally.endpoints[0]?.url ?? '';
  });
  afterAll(() => sally.stop());

  it('says where it serves and what is behind', () => {
    expect(sally.endpoints).toEqual([
      {
        name: 'quickstart',
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
        backends: [
          { name: 'everything', state: 'ready', revision: '2025-11-25', tools: 17 },
          { name: 'memory', state: 'ready', revision: '2025-11-25', tools: 9 },
        ],
      },
    ]);
  });

  it('shows the official client the tools of both servers under one roof', async () => {
    await using session = await connectClient(url);
    const { tools } = await session.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toHaveLength(26);
    expect(names).toContain('everything_echo');
    expect(names).toContain('memory_read_graph');
    const echo = tools.find(({ name }) => name === 'everything_echo');
    expect(echo).toMatchObject({ title: 'Echo Tool', annotations: { readOnlyHint: true } });
  });

  it('calls a tool of each server', async () => {
    await using session = await connectClient(url);
    const echo = await session.client.callTool({ name: 'everything_echo', arguments: { message: 'hello' } });
    expect(echo.content).toEqual([{ type: 'text', text: 'Echo: hello' }]);
    const graph = await session.client.callTool({ name: 'memory_read_graph', arguments: {} });
    expect(graph.structuredContent).toEqual({ entities: expect.any(Array), relations: expect.any(Array) });
  });

  it('serves the client of the older SDK as well', async () => {
    const client = new ClientV1({ name: 'old', version: '1' });
    await client.connect(new TransportV1(new URL(url)) as Parameters<typeof client.connect>[0]);
    const sum = await client.callTool({ name: 'everything_get-sum', arguments: { a: 2, b: 40 } });
    expect(JSON.stringify(sum.content)).toContain('42');
    await client.close();
  });

  it('answers a tool that does not exist like the protocol says', async () => {
    await using session = await connectClient(url);
    await expect(session.client.callTool({ name: 'everything_nothing' })).rejects.toMatchObject({ code: -32602 });
  });

  it('keeps a call of one client apart from the call of another with the same id', async () => {
    const post = (message: string) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 7,
          method: 'tools/call',
          params: { name: 'everything_echo', arguments: { message } },
        }),
      }).then((response) => response.text());
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => post(`caller ${index}`)));
    for (const [index, answer] of answers.entries()) expect(answer).toContain(`"Echo: caller ${index}"`);
  });

  it('ends on Ctrl-C with exit code 0 and leaves no process behind', async () => {
    expect(processesWith('XDG_TEST_MARK', MARK)).toHaveLength(3);
    expect(await sally.stop('SIGINT')).toBe(0);
    await eventually(
      () => processesWith('XDG_TEST_MARK', MARK),
      (left) => left.length === 0,
      1_000,
    );
  });
});
