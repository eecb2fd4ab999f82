import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { expect, it } from 'vitest';
import { groupYaml, installServers, serverYaml } from '../support/mcp-servers.ts';
import { eventually, freePort } from '../support/processes.ts';
import { connectClient, ROOT, startSally, tempFolder } from '../support/sally.ts';

it('fails no call over 20 reloads under load, ten of them invalid', async () => {
  await using folder = await tempFolder();
  await installServers(folder.path, ['good']);
  const file = join(folder.path, 'group.yaml');
  const valid = (round: number): string =>
    groupYaml(['good']).replace('image: npx://good', `image: npx://good\n  args: ["${round}"]`);
  await writeFile(file, valid(0));
  await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
  const url = sally.endpoints[0]?.url ?? '';

  let calls = 0;
  const failures: unknown[] = [];
  const pids = new Set<string>();
  let done = false;
  async function callInALoop(tool: 'good_pid' | 'good_slow'): Promise<void> {
    await using session = await connectClient(url);
    while (!done) {
      try {
        const answer = await session.client.callTool({ name: tool, arguments: { ms: 150 } });
        pids.add(JSON.stringify(answer.content));
        calls += 1;
      } catch (error) {
        failures.push(error);
      }
    }
  }
  const load = Promise.all([
    callInALoop('good_pid'),
    callInALoop('good_pid'),
    callInALoop('good_slow'),
    callInALoop('good_slow'),
  ]);

  for (let round = 1; round <= 10; round++) {
    await writeFile(file, `${valid(round)}  nonsense: [`);
    const refused = await sally.next('refused');
    expect(refused.problems?.[0]).toMatchObject({ line: expect.any(Number), message: expect.any(String) });
    // Other arguments mean another process: the new one takes over while the old one finishes its calls.
    await writeFile(file, valid(round));
    const reloaded = await sally.next('reloaded');
    expect(reloaded.endpoints?.[0]?.backends).toMatchObject([{ name: 'good', state: 'ready', tools: 3 }]);
  }
  done = true;
  await load;

  expect(failures).toEqual([]);
  expect(calls).toBeGreaterThan(100);
  expect(pids.size).toBeGreaterThan(5);
});

it('keeps the process of a server that did not change', async () => {
  await using folder = await tempFolder();
  await installServers(folder.path, ['good', 'greets']);
  const file = join(folder.path, 'group.yaml');
  await writeFile(file, groupYaml(['good']));
  await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
  await using session = await connectClient(sally.endpoints[0]?.url ?? '');
  const before = await session.client.callTool({ name: 'good_pid' });

  await writeFile(file, groupYaml(['good', 'greets']));
  await sally.next('reloaded');
  expect(await session.client.callTool({ name: 'good_pid' })).toEqual(before);
  const { tools } = await session.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    'good_pid',
    'good_slow',
    'good_env',
    'greets_pid',
    'greets_slow',
    'greets_env',
  ]);
});

it('stops a server that was taken out of the group', async () => {
  await using folder = await tempFolder();
  await installServers(folder.path, ['good', 'greets']);
  const file = join(folder.path, 'group.yaml');
  await writeFile(file, groupYaml(['good', 'greets']));
  await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
  await using session = await connectClient(sally.endpoints[0]?.url ?? '');
  const { content } = await session.client.callTool({ name: 'greets_pid' });
  const pid = Number((content[0] as { text: string }).text);

  await writeFile(file, groupYaml(['good']));
  await sally.next('reloaded');
  await expect(session.client.callTool({ name: 'greets_pid' })).rejects.toMatchObject({ code: -32602 });
  await eventually(
    () => isAlive(pid),
    (alive) => !alive,
  );
});

it('serves a change that failed for a reason outside, as soon as the reason is gone', async () => {
  await using folder = await tempFolder();
  await installServers(folder.path, ['good']);
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
  const { port } = blocker.address() as { port: number };
  await writeFile(join(folder.path, 'group.yaml'), groupYaml(['good']));
  await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);

  await writeFile(join(folder.path, 'group.yaml'), `${groupYaml(['good'])}  proxyPort: ${port}\n`);
  await sally.next('refused');
  await new Promise((resolve) => blocker.close(resolve));
  const { endpoints } = await sally.next('reloaded');
  expect(endpoints?.map(({ name }) => name)).toEqual(['test', 'good']);
});

it('goes on whatever a change brings', async () => {
  await using folder = await tempFolder();
  await installServers(folder.path, ['good', 'greets']);
  await mkdir(join(folder.path, 'node_modules/greets/folder'));
  await writeFile(
    join(folder.path, 'node_modules/greets/package.json'),
    '{"name":"greets","version":"1.0.0","bin":"folder"}',
  );
  await writeFile(join(folder.path, 'group.yaml'), groupYaml(['good']));
  await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
  await writeFile(join(folder.path, 'group.yaml'), groupYaml(['good', 'greets']));
  await sally.next('refused');
  await using session = await connectClient(sally.endpoints[0]?.url ?? '');
  expect((await session.client.listTools()).tools).toHaveLength(3);
});

it('a changed HTTP server takes over the fixed port of the one before', async () => {
  await using folder = await tempFolder();
  const port = await freePort();
  const yaml = (round: number): string => `${groupYaml([])}---
apiVersion: sallyport.dev/v1alpha1
kind: MCPServer
metadata: {name: web}
spec:
  groupRef: {name: test}
  image: npx://@modelcontextprotocol/server-everything@2026.8.31
  transport: streamable-http
  mcpPort: ${port}
  args: [streamableHttp]
  env: [{name: ROUND, value: "${round}"}]
`;
  await symlink(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  await writeFile(join(folder.path, 'group.yaml'), yaml(1));
  await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
  await using session = await connectClient(sally.endpoints[0]?.url ?? '');
  const echo = () => session.client.callTool({ name: 'web_echo', arguments: { message: 'x' } });
  expect((await echo()).content).toEqual([{ type: 'text', text: 'Echo: x' }]);
  await writeFile(join(folder.path, 'group.yaml'), yaml(2));
  await sally.next('reloaded');
  await eventually(
    () => echo().then(({ content }) => JSON.stringify(content), String),
    (seen) => seen.includes('Echo: x'),
  );
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('is ready at once beside servers elsewhere that never answer', async () => {
  await using folder = await tempFolder();
  // Accepts connections and says nothing.
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  const entries = Array.from(
    { length: 20 },
    (_, index) => `apiVersion: sallyport.dev/v1alpha1
kind: MCPServerEntry
metadata: {name: silent-${index}}
spec: {groupRef: {name: test}, remoteUrl: "http://127.0.0.1:${port}/mcp", allowPrivateEndpoint: true}
`,
  );
  await writeFile(join(folder.path, 'group.yaml'), [groupYaml([]), ...entries].join('---\n'));
  await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
  expect(sally.endpoints[0]?.backends.map(({ state }) => state)).toEqual(Array(20).fill('connecting'));
  silent.close();
});

it('keeps the stream of an old client over a reload', async () => {
  await using folder = await tempFolder();
  await installServers(folder.path, ['good', 'greets']);
  const port = await freePort();
  const good = groupYaml(['good']);
  await writeFile(join(folder.path, 'group.yaml'), `${good}  proxyPort: ${port}\n`);
  await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
  const client = new ClientV1({ name: 'old', version: '1' });
  await client.connect(new SSEClientTransport(new URL(`http://127.0.0.1:${port}/sse`)));
  const before = await client.callTool({ name: 'pid' });
  await writeFile(join(folder.path, 'group.yaml'), `${good}  proxyPort: ${port}\n---\n${serverYaml('greets')}`);
  await sally.next('reloaded');
  expect(await client.callTool({ name: 'pid' })).toEqual(before);
  await client.close();
});
