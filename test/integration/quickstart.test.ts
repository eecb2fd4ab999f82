import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestBrowser } from '../support/cookie-jar.ts';
import { eventually, freePort, processesWith } from '../support/processes.ts';
import { loginAddressIn, type Running, runProgram } from '../support/program.ts';
import { connectClient, type RunningSally, startSally, tempFolder } from '../support/sally.ts';

describe('the quickstart without a login', () => {
  const MARK = `quickstart-${process.pid}`;
  let sally: RunningSally;
  let url: string;
  beforeAll(async () => {
    sally = await startSally(['vmcp', 'serve', '-f', 'examples/quickstart-anonymous', '--port', '0'], {
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

describe('npm start', () => {
  const MARK = `start-${process.pid}`;
  let start: Running;
  let url: string;
  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}/mcp`;
    start = runProgram('scripts/start.ts', ['--port', String(port)], { env: { XDG_TEST_MARK: MARK } });
    await start.says('Ctrl-C stops everything.');
  });
  afterAll(() => start.end());

  it('says that its identity provider is for development, and what to do next', () => {
    expect(start.output()).toContain('never use it in production');
    expect(start.output()).toContain(`npm run try -- ${url}`);
    expect(start.output()).toContain(`quickstart is served at ${url}`);
  });

  it('lets nobody in who has not logged in, and says where that is done', async () => {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('resource_metadata=');
  });

  it('shows a newcomer the tools after a login', async () => {
    const attempt = runProgram('examples/client/main.ts', ['--no-browser', url]);
    await attempt.says('Waiting.');
    const browser = createTestBrowser();
    const consent = await browser.travel(loginAddressIn(attempt.output()));
    expect(consent.body).toContain('Example client');
    const people = await browser.submit(consent, { decision: 'allow' });
    expect(people.body).toContain('Development only.');
    const done = await browser.submit(people, { user: 'alice' });
    expect(done.body).toContain('You are logged in.');
    expect(await attempt.end()).toBe(0);
    expect(attempt.output()).toContain(`26 tools at ${url}`);
    expect(attempt.output()).toContain('memory_read_graph');
  });

  it('opens the address in the browser of the system', async () => {
    await using folder = await tempFolder();
    const opened = join(folder.path, 'opened');
    await writeFile(join(folder.path, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${opened}\n`, { mode: 0o755 });
    const attempt = runProgram('examples/client/main.ts', [url], {
      env: { PATH: `${folder.path}:${process.env.PATH}` },
    });
    await attempt.says('Waiting.');
    const address = await eventually(
      () => readFile(opened, 'utf8').catch(() => ''),
      (text) => text !== '',
    );
    expect(address).toBe(loginAddressIn(attempt.output()));
    attempt.process.kill();
    await attempt.end();
  });

  it('tells the client when the user cancels at the identity provider', async () => {
    const attempt = runProgram('examples/client/main.ts', ['--no-browser', url]);
    await attempt.says('Waiting.');
    const browser = createTestBrowser();
    const people = await browser.submit(await browser.travel(loginAddressIn(attempt.output())), { decision: 'allow' });
    const done = await browser.submit(people, { user: '' });
    expect(done.body).toContain('You were not let in.');
    expect(await attempt.end()).toBe(1);
    expect(attempt.output()).toContain('access_denied');
  });

  it('ends on Ctrl-C with everything it started', async () => {
    start.process.kill('SIGINT');
    expect(await start.end()).toBe(0);
    await eventually(
      () => processesWith('XDG_TEST_MARK', MARK),
      (left) => left.length === 0,
      1_000,
    );
  });
});

describe('npm start and npm run try, when something is in the way', () => {
  it('name the port of the identity provider when it is taken, and the way out', async () => {
    const blocker = createServer();
    // Whoever has it already is as good as we are.
    await new Promise<void>((resolve) => blocker.once('error', () => resolve()).listen(4480, '127.0.0.1', resolve));
    const attempt = runProgram('scripts/start.ts', []);
    expect(await attempt.end()).toBe(5);
    blocker.close();
    expect(attempt.output()).toContain('port 4480');
    expect(attempt.output()).toContain('npm start -- --port');
  });

  it('refuse flags that they do not know', async () => {
    const attempt = runProgram('scripts/start.ts', ['--anonymus']);
    expect(await attempt.end()).toBe(2);
    expect(attempt.output()).toContain('usage: npm start');
  });

  it('say that nothing is there when nothing is there', async () => {
    const attempt = runProgram('examples/client/main.ts', ['--no-browser', `http://127.0.0.1:${await freePort()}/mcp`]);
    expect(await attempt.end()).toBe(1);
    expect(attempt.output()).toContain('start the gateway first: npm start');
  });
});
