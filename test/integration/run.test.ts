import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { describe, expect, it } from 'vitest';
import { startHttpMcpServer } from '../support/http-mcp-server.ts';
import { groupYaml, installServers } from '../support/mcp-servers.ts';
import { freePort } from '../support/processes.ts';
import { TEST_PATH } from '../support/programs.ts';
import { connectClient, startSally, tempFolder } from '../support/sally.ts';

describe('sally run -f', () => {
  it('serves an npm package at /mcp under its own names', async () => {
    await using running = await startSally(['run', '-f', 'npx://@modelcontextprotocol/server-everything@2026.8.31']);
    expect(running.endpoints[0]).toMatchObject({
      name: 'modelcontextprotocol-server-everything-2026-8-31',
      url: expect.stringMatching(/\/mcp$/),
    });
    await using session = await connectClient(running.endpoints[0]?.url ?? '');
    expect(session.client.getServerVersion()?.name).toBe('mcp-servers/everything');
    const echo = await session.client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(echo.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
    // Methods the gateway does not know by name reach the one server as they are.
    const { prompts } = await session.client.listPrompts();
    expect(prompts.length).toBeGreaterThan(0);
  });

  it('serves a PyPI package through uvx', async () => {
    await using running = await startSally(['run', '-f', 'uvx://mcp-server-time@2026.10.19', '--name', 'time'], {
      // What a package depends on is fixed by date, so that this test means the same next year.
      env: { PATH: TEST_PATH, UV_EXCLUDE_NEWER: '2026-11-01T00:00:00Z' },
    });
    await using session = await connectClient(running.endpoints[0]?.url ?? '');
    const { tools } = await session.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['get_current_time', 'convert_time']);
  });

  it('builds and serves a local Go server, and hands it what follows --', async () => {
    await using running = await startSally([
      'run',
      '--name',
      'go',
      '-f',
      'go://./test/fixtures/go-server',
      '--',
      'one',
      '--two',
    ]);
    await using session = await connectClient(running.endpoints[0]?.url ?? '');
    const answer = await session.client.callTool({ name: 'args' });
    expect(answer.content).toEqual([{ type: 'text', text: 'one --two' }]);
  });

  it('starts a server that speaks HTTP itself and tells it its port', async () => {
    const target = 'npx://@modelcontextprotocol/server-everything@2026.8.31';
    await using running = await startSally([
      'run',
      '-f',
      '--transport',
      'streamable-http',
      '--name',
      'web',
      target,
      '--',
      'streamableHttp',
    ]);
    await using session = await connectClient(running.endpoints[0]?.url ?? '');
    const echo = await session.client.callTool({ name: 'echo', arguments: { message: 'over http' } });
    expect(echo.content).toEqual([{ type: 'text', text: 'Echo: over http' }]);
  });

  it.each([{ stream: false }, { stream: true }])(
    'stands in front of a remote server (event stream: $stream)',
    async (options) => {
      await using remote = await startHttpMcpServer(options);
      await using running = await startSally(['run', '-f', '--name', 'remote', remote.url]);
      await using session = await connectClient(running.endpoints[0]?.url ?? '');
      expect(session.client.getInstructions()).toBe('Say something.');
      expect(session.client.getServerCapabilities()).toEqual({
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
      });
      const said = await session.client.callTool({ name: 'say', arguments: { text: 'grüß dich' } });
      expect(said.content).toEqual([{ type: 'text', text: 'grüß dich' }]);
      expect(await session.client.readResource({ uri: 'test://x' })).toMatchObject({
        contents: [{ text: 'a resource' }],
      });
    },
  );

  it('never shows a remote server what the client sent to us', async () => {
    await using remote = await startHttpMcpServer();
    await using running = await startSally(['run', '-f', '--name', 'remote', remote.url]);
    await fetch(running.endpoints[0]?.url ?? '', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: 'Bearer of-the-client',
        cookie: 'session=of-the-client',
        'x-forwarded-user': 'of-the-client',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'say', arguments: { text: 'x' } },
      }),
    });
    expect(remote.seen.length).toBeGreaterThan(3);
    expect(JSON.stringify(remote.seen)).not.toContain('of-the-client');
  });

  it('opens a new session when the remote server forgot the old one', async () => {
    await using remote = await startHttpMcpServer();
    await using running = await startSally(['run', '-f', '--name', 'remote', remote.url]);
    await using session = await connectClient(running.endpoints[0]?.url ?? '');
    remote.forget();
    // A list can be asked for again without harm, so the caller does not notice.
    expect(await session.client.readResource({ uri: 'test://x' })).toMatchObject({
      contents: [{ text: 'a resource' }],
    });
    remote.forget();
    // A tool may have done its work already, so it is the caller who decides about a second try.
    await expect(session.client.callTool({ name: 'say', arguments: { text: 'x' } })).rejects.toMatchObject({
      code: 5026,
    });
    const again = await session.client.callTool({ name: 'say', arguments: { text: 'x' } });
    expect(again.content).toEqual([{ type: 'text', text: 'x' }]);
  });

  it('serves old clients over HTTP+SSE as well', async () => {
    await using running = await startSally([
      'run',
      '-f',
      '--name',
      'old',
      'npx://@modelcontextprotocol/server-everything@2026.8.31',
    ]);
    const client = new ClientV1({ name: 'old', version: '1' });
    const url = new URL('/sse', running.endpoints[0]?.url);
    await client.connect(new SSEClientTransport(url));
    const seen: number[] = [];
    const long = await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.5, steps: 3 } },
      undefined,
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    expect(JSON.stringify(long.content)).toContain('completed');
    expect(seen.length).toBeGreaterThan(1);
    await client.close();
    expect(
      (
        await fetch(new URL('/messages?sessionId=invented', url), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        })
      ).status,
    ).toBe(404);
  });

  it('gives a server only the environment it was given', async () => {
    await using folder = await tempFolder();
    await installServers(folder.path, ['good']);
    await using running = await startSally(['run', '-f', 'npx://good', '-e', 'GREETING=a=b'], {
      cwd: folder.path,
      env: { SALLYPORT_SECRET_X: 'hunter2', AWS_SECRET_ACCESS_KEY: 'hunter3' },
    });
    await using session = await connectClient(running.endpoints[0]?.url ?? '');
    const { content } = await session.client.callTool({ name: 'env' });
    const env = JSON.parse((content[0] as { text: string }).text) as Record<string, string>;
    expect(env).toMatchObject({ GREETING: 'a=b', MCP_TRANSPORT: 'stdio' });
    const { SALLYPORT_GUARDED, ...others } = env;
    expect(SALLYPORT_GUARDED).toBeDefined(); // by which it is found and ended, wherever it hides
    expect(JSON.stringify(others)).not.toMatch(/hunter|SALLYPORT/);
  });
});

describe('servers in a group', () => {
  it('a secret reaches its server from the environment, a file or a Secret, and appears nowhere else', async () => {
    await using folder = await tempFolder();
    await installServers(folder.path, ['good']);
    await writeFile(
      join(folder.path, 'group.yaml'),
      `${groupYaml(['good'])}  secrets:
    - {name: api, key: token, targetEnvName: TOKEN}
    - {name: api, key: other, targetEnvName: OTHER}
    - {name: filed, key: FILED}
---
apiVersion: v1
kind: Secret
metadata: {name: api}
stringData: {token: hunter-resource, other: hunter-other}
`,
    );
    await using values = await tempFolder();
    await mkdir(join(values.path, 'filed'));
    await writeFile(join(values.path, 'filed/FILED'), 'hunter-file\n');
    await using running = await startSally(
      ['vmcp', 'serve', '-f', folder.path, '--port', '0', '--secrets-dir', values.path, '--debug'],
      { env: { SALLYPORT_SECRET_API_TOKEN: 'hunter-env' } },
    );
    await using session = await connectClient(running.endpoints[0]?.url ?? '');
    const { content } = await session.client.callTool({ name: 'good_env' });
    const env = JSON.parse((content[0] as { text: string }).text) as Record<string, string>;
    expect(env).toMatchObject({ TOKEN: 'hunter-env', OTHER: 'hunter-other', FILED: 'hunter-file' });
    await running.stop();
    expect(running.stderr()).not.toContain('hunter');
  });

  it('several virtual servers share one listener, each at its own path', async () => {
    await using folder = await tempFolder();
    await installServers(folder.path, ['good', 'greets']);
    await writeFile(join(folder.path, 'a.yaml'), groupYaml(['good'], 'alpha'));
    await writeFile(join(folder.path, 'b.yaml'), groupYaml(['greets'], 'beta'));
    await using running = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
    const urls = running.endpoints.map(({ url }) => new URL(url));
    expect(urls.map(({ pathname }) => pathname)).toEqual(['/alpha/mcp', '/beta/mcp']);
    expect(new Set(urls.map(({ port }) => port)).size).toBe(1);
    await using session = await connectClient(urls[1]?.href ?? '');
    expect((await session.client.listTools()).tools.map(({ name }) => name)).toEqual([
      'greets_pid',
      'greets_slow',
      'greets_env',
    ]);
  });

  it('a remote entry is a backend like any other', async () => {
    await using remote = await startHttpMcpServer();
    await using folder = await tempFolder();
    await writeFile(
      join(folder.path, 'group.yaml'),
      `${groupYaml([])}---
apiVersion: sallyport.dev/v1alpha1
kind: MCPServerEntry
metadata: {name: far}
spec:
  groupRef: {name: test}
  remoteUrl: ${remote.url}
  allowPrivateEndpoint: true
  headerForward:
    addPlaintextHeaders: {X-Team: support}
    addHeadersFromSecret:
      - headerName: X-Key
        valueSecretRef: {name: far, key: key}
`,
    );
    await using running = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0'], {
      env: { SALLYPORT_SECRET_FAR_KEY: 'k3y' },
    });
    await using session = await connectClient(running.endpoints[0]?.url ?? '');
    const said = await session.client.callTool({ name: 'far_say', arguments: { text: 'x' } });
    expect(said.content).toEqual([{ type: 'text', text: 'x' }]);
    expect(remote.seen.at(-1)).toMatchObject({ 'x-team': 'support', 'x-key': 'k3y' });
  });

  it('a server with a proxyPort is also served alone, by the same process', async () => {
    await using folder = await tempFolder();
    await installServers(folder.path, ['good']);
    const port = await freePort();
    await writeFile(join(folder.path, 'group.yaml'), `${groupYaml(['good'])}  proxyPort: ${port}\n`);
    await using running = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
    const [group, alone] = running.endpoints;
    expect(alone).toMatchObject({ name: 'good', url: `http://127.0.0.1:${port}/mcp` });
    await using one = await connectClient(group?.url ?? '');
    await using two = await connectClient(alone?.url ?? '');
    expect(await one.client.callTool({ name: 'good_pid' })).toEqual(await two.client.callTool({ name: 'pid' }));
  });
});
