import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { describe, expect, it, vi } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import { startHttpMcpServer } from '../support/http-mcp-server.ts';
import { freePort } from '../support/processes.ts';
import { connectClient, ROOT } from '../support/sally.ts';
import { type View, type WorkloadHome, workloadHome } from '../support/workloads.ts';

// Each test starts many commands, and a busy machine takes its time for each.
vi.setConfig({ testTimeout: 120_000 });

const EVERYTHING = 'npx://@modelcontextprotocol/server-everything@2026.8.31';

async function run(home: WorkloadHome, ...args: readonly string[]): Promise<string> {
  return (await home.json<{ url: string }>(['run', ...args])).url;
}

async function environmentOf(url: string): Promise<Record<string, string>> {
  await using session = await connectClient(url);
  const { content } = await session.client.callTool({ name: 'env' });
  return JSON.parse((content[0] as { text: string }).text) as Record<string, string>;
}

describe('variables and secrets of the server', () => {
  it('come from files, a folder, flags and the store, the later wins, and secrets stand in no file', async () => {
    await using home = await workloadHome();
    await writeFile(
      join(home.folder, 'base.env'),
      'A=file\nB=file\nC="with \\"quotes\\""\nexport TOKEN=hunter-file # said\n',
    );
    await mkdir(join(home.folder, 'more'));
    await writeFile(join(home.folder, 'more/10'), 'B=folder\nD=folder\nE=folder');
    await writeFile(join(home.folder, 'more/20'), "E='second'");
    const flags = [
      '--env-file',
      'base.env',
      '--env-file-dir',
      'more',
      '-e',
      'D=flag',
      '-e',
      'F=a=b',
      '-e',
      'G=old',
      '-e',
      'G=',
    ];
    await home.ok(['run', 'npx://good', ...flags, '--secret', 'api-key,target=KEY', '--secret', 'api-key,target=F'], {
      env: { SALLYPORT_SECRET_API_KEY: 'hunter-secret' },
    });
    const { url = '' } = await home.json<View>(['status', 'good']);
    expect(await environmentOf(url)).toMatchObject({
      A: 'file',
      B: 'folder',
      C: 'with "quotes"',
      D: 'flag',
      E: 'second',
      F: 'hunter-secret',
      G: '',
      TOKEN: 'hunter-file',
      KEY: 'hunter-secret',
      MCP_TRANSPORT: 'stdio',
    });
    const exported = await home.ok(['export', 'good']);
    expect(exported).toContain('api-key,target=KEY');
    const state = await readFile(join(home.folder, 'home/state/workloads/good/workload.json'), 'utf8');
    const logs = await home.ok(['logs', '--supervisor', 'good']);
    expect(`${exported}${state}${logs}`).not.toContain('hunter');
  });

  it('a secret that has no value is told before anything starts', async () => {
    await using home = await workloadHome();
    const { code, stderr } = await home.sally(
      ['run', 'npx://good', '--secret', 'one,target=A', '--secret', 'two,target=B'],
      {
        env: { SALLYPORT_SECRETS_PROVIDER: 'environment' },
      },
    );
    expect(code).not.toBe(0);
    expect(stderr).toContain('one, two');
    expect(await home.json(['list', '--all'])).toEqual([]);
  });

  it('a plain variable that looks like a secret is kept, and said to be', async () => {
    await using home = await workloadHome();
    const { stderr } = await home.sally(['run', 'npx://good', '-e', 'API_KEY=hunter2']);
    expect(stderr).toContain('API_KEY in plain text');
    expect(stderr).not.toContain('hunter2');
  });

  it.each([
    [['--env-file-dir', 'none'], 'none'],
    [['-e', 'NOVALUE'], 'KEY=VALUE'],
    [['-e', '9=x'], 'env_vars'],
    [['--secret', 'just-a-name'], 'target='],
    [['--secret', '__sally_workload_x/A,target=A'], '__sally_workload_x'],
  ])('%j is refused', async (flags, way) => {
    await using home = await workloadHome();
    const { code, stderr } = await home.sally(['run', 'npx://good', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(way);
  });
});

it('a file of variables that is not there, or is wrong, is refused', async () => {
  await using home = await workloadHome();
  // Node.js itself looks for a file behind this flag and refuses in its own words, with an exit code of its own.
  const missing = await home.sally(['run', 'npx://good', '--env-file', 'none']);
  expect(missing.code).not.toBe(0);
  expect(missing.stderr).toContain('none');
  await writeFile(join(home.folder, 'bad.env'), 'A=1\nnonsense\n');
  const wrong = await home.sally(['run', 'npx://good', '--env-file', 'bad.env']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('bad.env:2 is not KEY=VALUE') });
});

describe('--tools and --tools-override', () => {
  it('offer the named tools only, under their new names, and the rest looks as if it were not there', async () => {
    await using home = await workloadHome();
    await writeFile(
      join(home.folder, 'override.json'),
      JSON.stringify({
        toolsOverride: {
          pid: { name: 'number', description: 'The number of the process' },
          slow: { description: 'Slow' },
        },
      }),
    );
    const url = await run(
      home,
      'npx://good',
      '--tools',
      'number, slow',
      '--tools',
      'other',
      '--tools-override',
      'override.json',
    );
    await using session = await connectClient(url);
    const { tools } = await session.client.listTools();
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ['number', 'The number of the process'],
      ['slow', 'Slow'],
    ]);
    const { content } = await session.client.callTool({ name: 'number' });
    expect((content[0] as { text: string }).text).toMatch(/^\d+$/);
    const refusals = await Promise.all(
      ['pid', 'env', 'nothing-like-it'].map((name) =>
        session.client.callTool({ name }).then(
          () => 'answered',
          (error: { code: number; message: string }) => [error.code, error.message.replace(name, 'NAME')],
        ),
      ),
    );
    expect(refusals[0]).toEqual([-32602, expect.stringContaining('Unknown tool: NAME')]);
    expect(refusals[1]).toEqual(refusals[0]);
    expect(refusals[2]).toEqual(refusals[0]);
  });

  it('a tool that takes the name of another hides it, and two that want one name are refused', async () => {
    await using home = await workloadHome();
    await writeFile(join(home.folder, 'override.json'), JSON.stringify({ toolsOverride: { pid: { name: 'env' } } }));
    const url = await run(home, 'npx://good', '--tools-override', 'override.json');
    await using session = await connectClient(url);
    expect((await session.client.listTools()).tools.map(({ name }) => name)).toEqual(['env', 'slow']);
    const { content } = await session.client.callTool({ name: 'env' });
    expect((content[0] as { text: string }).text).toMatch(/^\d+$/);

    const wrong: readonly (readonly [unknown, string])[] = [
      [{ toolsOverride: { pid: { name: 'x' }, env: { name: 'x' } } }, 'two tools the name x'],
      [{ toolsOverride: { pid: {} } }, 'needs a name or a description'],
      [{ toolsOverride: {} }, 'at least one tool'],
      [{ tools: {} }, 'toolsOverride'],
    ];
    for (const [content, says] of wrong) {
      await writeFile(join(home.folder, 'override.json'), JSON.stringify(content));
      const refused = await home.sally(['run', 'npx://good', '--name', 'x', '--tools-override', 'override.json']);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(says) });
    }
    expect((await home.sally(['run', 'npx://good', '--name', 'x', '--tools', 'a,,b'])).code).toBe(2);
  });
});

describe('transport and proxy', () => {
  it('--proxy-mode sse shows the address of the old transport, and --endpoint-prefix goes in front of what it announces', async () => {
    await using home = await workloadHome();
    const url = await run(home, 'npx://good', '--proxy-mode', 'sse');
    expect(url).toMatch(/\/sse$/);
    const client = new ClientV1({ name: 'old', version: '1' });
    await client.connect(new SSEClientTransport(new URL(url)));
    expect((await client.listTools()).tools).toHaveLength(3);
    await client.close();

    const prefixed = await run(
      home,
      'npx://good',
      '--name',
      'prefixed',
      '--proxy-mode',
      'sse',
      '--endpoint-prefix',
      '/tools/a',
    );
    expect(await announced(prefixed)).toMatch(/^\/tools\/a\/messages\?sessionId=/);
    const bad = await home.sally(['run', 'npx://good', '--name', 'x', '--endpoint-prefix', 'tools']);
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('endpoint_prefix') });
  });

  it('--trust-proxy-headers believes a proxy about the prefix, and nobody is believed without it', async () => {
    await using home = await workloadHome();
    const trusting = await run(home, 'npx://good', '--proxy-mode', 'sse', '--trust-proxy-headers');
    expect(await announced(trusting, { 'x-forwarded-prefix': '/behind' })).toMatch(/^\/behind\/messages\?/);
    const wary = await run(home, 'npx://good', '--name', 'wary', '--proxy-mode', 'sse');
    expect(await announced(wary, { 'x-forwarded-prefix': '/behind' })).toMatch(/^\/messages\?/);
  });

  it('--transport, --target-port, --target-host and --proxy-port say who listens where', async () => {
    await using home = await workloadHome();
    const [port, target] = [await freePort(), await freePort()];
    const flags = ['--proxy-port', String(port), '--target-port', String(target), '--target-host', 'localhost'];
    await home.ok(
      ['run', EVERYTHING, '--name', 'web', '--transport', 'streamable-http', ...flags, '--', 'streamableHttp'],
      {
        cwd: ROOT,
      },
    );
    const { url = '' } = await home.json<View>(['status', 'web']);
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    await using session = await connectClient(url);
    const echo = await session.client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(echo.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
    expect((await fetch(`http://localhost:${target}/mcp`)).status).toBeGreaterThanOrEqual(400); // somebody is there
    const { stderr } = await home.sally(['run', 'npx://good', '--proxy-port', String(port)]);
    expect(stderr).toContain('listener.port_in_use');
  });

  it('--host listens there, and an address that others reach needs authentication', async () => {
    await using home = await workloadHome();
    const url = await run(home, 'npx://good', '--host', '127.0.0.2');
    expect(url).toMatch(/^http:\/\/127\.0\.0\.2:/);
    expect((await fetch(url.replace('/mcp', '/health'))).status).toBe(200);
    const open = await home.sally(['run', 'npx://good', '--name', 'open', '--host', '0.0.0.0']);
    expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining('listener.anonymous_exposed') });
    expect((await home.json<View[]>(['list', '--all'])).map(({ name }) => name)).toEqual(['good']);
  });

  it('--stateless takes POST only, and asks the server nothing else', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await workloadHome();
    const url = await run(home, remote.url, '--name', 'far', '--stateless');
    await using session = await connectClient(url);
    const said = await session.client.callTool({ name: 'say', arguments: { text: 'x' } });
    expect(said.content).toEqual([{ type: 'text', text: 'x' }]);
    for (const method of ['GET', 'DELETE']) {
      const refused = await fetch(url, { method, headers: { accept: 'text/event-stream' } });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
    }
    expect((await fetch(url.replace('/mcp', '/sse'))).status).toBe(404);
    await home.ok(['rm', 'far']);
    expect(remote.seen.every(({ accept }) => accept !== 'text/event-stream')).toBe(true);
    const stdio = await home.sally(['run', 'npx://good', '--stateless']);
    expect(stdio).toMatchObject({ code: 2, stderr: expect.stringContaining('stateless') });
  });

  it('--oidc-issuer asks callers for tokens in the background too, and its secret stays out of the state', async () => {
    await using home = await workloadHome();
    const flags = [
      '--oidc-issuer',
      'https://idp.example',
      '--oidc-audience',
      'https://me.example',
      '--oidc-client-id',
      'me',
    ];
    const url = await run(home, 'npx://good', ...flags);
    expect((await fetch(url, { method: 'POST' })).status).toBe(401);
    const plain = await home.sally(['run', 'npx://good', '--name', 'x', ...flags, '--oidc-client-secret', 'hunter2']);
    expect(plain).toMatchObject({ code: 2, stderr: expect.stringContaining('--oidc-client-secret-file') });
    await writeFile(join(home.folder, 'secret'), 'hunter2');
    await home.ok(['run', 'npx://good', '--name', 'filed', ...flags, '--oidc-client-secret-file', 'secret']);
    const exported = await home.ok(['export', 'filed']);
    expect(exported).toContain(`file:${join(home.folder, 'secret')}`);
    expect(exported).not.toContain('hunter2');
  });
});

describe('who may call, and whom we trust', () => {
  it('--session-mode gives all clients one process, or each one of its own', async () => {
    await using home = await workloadHome();
    const pids = async (url: string): Promise<readonly string[]> => {
      await using one = await connectClient(url);
      await using two = await connectClient(url);
      const answers = await Promise.all([one, two].map(({ client }) => client.callTool({ name: 'pid' })));
      return answers.map(({ content }) => (content[0] as { text: string }).text);
    };
    const [first, second] = await pids(await run(home, 'npx://good', '--name', 'shared', '--session-mode', 'shared'));
    expect(second).toBe(first);
    const [own, other] = await pids(await run(home, 'npx://good', '--name', 'own', '--session-mode', 'per-session'));
    expect(other).not.toBe(own);
  });

  it('--allowed-host and --allowed-origin let a name and a page in that are refused without', async () => {
    await using home = await workloadHome();
    const closed = await run(home, 'npx://good', '--name', 'closed');
    const flags = ['--allowed-host', 'mcp.acme.example', '--allowed-origin', 'https://app.acme.example'];
    const open = await run(home, 'npx://good', '--name', 'open', ...flags);
    const named = { host: 'mcp.acme.example' };
    const paged = { origin: 'https://app.acme.example' };
    expect([await statusOf(closed, named), await statusOf(open, named)]).toEqual([403, 200]);
    expect([await statusOf(closed, paged), await statusOf(open, paged)]).toEqual([403, 200]);
    expect(await statusOf(open, { origin: 'https://other.example' })).toBe(403);
  });

  it('--insecure-allow-anonymous serves on an address that others reach', async () => {
    await using home = await workloadHome();
    const flags = ['--host', '0.0.0.0', '--insecure-allow-anonymous'];
    const { port } = new URL(await run(home, 'npx://good', ...flags));
    expect(await statusOf(`http://127.0.0.1:${port}/mcp`)).toBe(200);
  });

  it('--thv-ca-bundle makes a server at a URL trusted whose certificate nobody else signed', async () => {
    await using remote = await startHttpMcpServer();
    await using home = await workloadHome();
    const { cert, key } = await makeCertificate();
    await writeFile(join(home.folder, 'ca.pem'), cert);
    const front = createTlsServer({ cert, key }, (socket) => {
      const behind = connect(Number(new URL(remote.url).port), '127.0.0.1');
      for (const [from, to] of [
        [socket, behind],
        [behind, socket],
      ] as const)
        from.on('error', () => to.destroy()).pipe(to);
    });
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    try {
      const url = `https://localhost:${(front.address() as AddressInfo).port}/mcp`;
      const strange = await home.sally(['run', url, '--name', 'strange']);
      expect(strange).toMatchObject({ code: expect.any(Number), stderr: expect.stringContaining('fetch.unreachable') });
      expect(strange.code).not.toBe(0);
      await using session = await connectClient(await run(home, url, '--name', 'far', '--thv-ca-bundle', 'ca.pem'));
      expect((await session.client.listTools()).tools).toHaveLength(1);
    } finally {
      front.close();
    }
  });
});

describe('the rest of the table', () => {
  it('labels and groups choose what is listed', async () => {
    await using home = await workloadHome();
    await home.ok(['group', 'create', 'tools']);
    await run(home, 'npx://good', '--name', 'one', '-l', 'team=a', '-l', 'tier=1', '--group', 'tools');
    await run(home, 'npx://good', '--name', 'two', '-l', 'team=a');
    const names = async (...flags: string[]): Promise<string[]> =>
      (await home.json<View[]>(['list', ...flags])).map(({ name }) => name);
    expect(await names('-l', 'team=a')).toEqual(['one', 'two']);
    expect(await names('-l', 'team=a', '-l', 'tier=1')).toEqual(['one']);
    expect(await names('--group', 'tools')).toEqual(['one']);
    expect((await home.sally(['list', '--group', 'tolls'])).stderr).toContain('did you mean tools?');
    const missing = await home.sally(['run', 'npx://good', '--name', 'x', '--group', 'none']);
    expect(missing.stderr).toContain('sally group create none');
    const label = await home.sally(['run', 'npx://good', '--name', 'x', '-l', 'a b=c']);
    expect(label).toMatchObject({ code: 2, stderr: expect.stringContaining('container_labels') });
  });

  it('flags for containers are refused where there is no container, and unknown ones always', async () => {
    await using home = await workloadHome();
    for (const flags of [
      ['-p', '80:80'],
      ['--network', 'host'],
      ['--memory', '512m'],
      ['--pids-limit', '10', '--permission-profile', 'none'],
      ['--runtime-image', 'node:24'],
      ['--ignore-globally', 'false'],
    ]) {
      const { code, stderr } = await home.sally(['run', 'npx://good', ...flags]);
      expect({ flags, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('config.unsupported') });
    }
    const typo = await home.sally(['run', 'npx://good', '--isolate-netwrok']);
    expect(typo).toMatchObject({ code: 2, stderr: expect.stringContaining('--isolate-network') });
  });

  it('what follows -- reaches the server to the letter', async () => {
    await using home = await workloadHome();
    await home.ok(['run', 'go://./test/fixtures/go-server', '--name', 'go', '--', '--name', 'x y', '-e', '$HOME'], {
      cwd: ROOT,
    });
    const { url = '' } = await home.json<View>(['status', 'go']);
    await using session = await connectClient(url);
    const { content } = await session.client.callTool({ name: 'args' });
    expect(content).toEqual([{ type: 'text', text: '--name x y -e $HOME' }]);
  });
});

/** What `initialize` gets with these headers; `fetch` would not let us choose the host. */
async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  const asked = request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  });
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize }));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

async function announced(url: string, headers: Record<string, string> = {}): Promise<string> {
  const closing = new AbortController();
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: closing.signal });
  const { value } = (await response.body?.getReader().read()) ?? {};
  closing.abort();
  return /data: (.*)/.exec(new TextDecoder().decode(value))?.[1] ?? '';
}
