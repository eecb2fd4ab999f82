import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine, partsOf } from '../../examples/two-providers-sentinel/parts.ts';
import { PORTS } from '../../examples/two-providers-sentinel/ports.ts';
import { createTestBrowser } from '../support/cookie-jar.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { loginAddressIn, type Running, runProgram } from '../support/program.ts';
import { ROOT, sally, type TempFolder, tempFolder } from '../support/sally.ts';

const EXAMPLE = 'examples/two-providers-sentinel';

describe('the example with two providers and Redis Sentinel', () => {
  const MARK = `sentinel-${process.pid}`;
  let start: Running;
  let client: Running;
  let home: TempFolder;
  let data: string;
  let urls: readonly string[];
  beforeAll(async () => {
    home = await tempFolder();
    const options = { env: { XDG_TEST_MARK: MARK, SALLYPORT_HOME: home.path }, patience: 100_000 };
    start = runProgram(`${EXAMPLE}/start.ts`, ['--free-ports'], options);
    await start.says('Ctrl-C stops everything.');
    data = /in (\S+), until this ends/.exec(start.output())?.[1] ?? '';
    urls = /client\.ts (.*)$/m.exec(start.output())?.[1]?.split(' ') ?? [];
    client = runProgram(`${EXAMPLE}/client.ts`, ['--no-browser', ...urls]);
  });
  afterAll(async () => {
    client?.process.kill();
    start?.process.kill('SIGINT');
    await Promise.all([client?.end(), start?.end()]);
    await home?.[Symbol.asyncDispose]();
  });

  /** What the client was told in a round of calls, by gateway and tool. */
  function round(number: number): readonly string[] {
    const [, ...rounds] = client.output().split('Logged in.\n').join('Enter calls').split('Enter calls');
    const lines = (rounds[number - 1] ?? '').split('\n').filter((line) => /^(http| {2})/.test(line));
    return lines.map((line) =>
      line
        .trim()
        .replace(/ +/g, ' ')
        .replace(/ \(\d+ ms\)$/, ''),
    );
  }

  it('says that it is not for production, and what runs where', () => {
    expect(start.output()).toContain('NOT FOR PRODUCTION');
    for (const name of Object.keys(PORTS)) expect(start.output()).toMatch(new RegExp(`^${name} .* process \\d+ `, 'm'));
  });

  it('leads a login through both providers, as another person at each', async () => {
    await client.says('Waiting.');
    const browser = createTestBrowser();
    const consent = await browser.travel(loginAddressIn(client.output()));
    expect(consent.body).toContain('Example client');
    const corp = await browser.submit(consent, { decision: 'allow' });
    expect(corp.body).toContain('Log in at corp');
    const hub = await browser.submit(corp, { user: 'alice' });
    expect(hub.body).toContain('Log in at hub');
    const done = await browser.submit(hub, { user: 'bob' });
    expect(done.body).toContain('You are logged in.');
  });

  it('shows each server the token it needs, at both gateways', async () => {
    await client.says('Enter calls them again');
    expect(round(1)).toEqual(expectedAnswers());
  });

  it('goes on without a new login when the Redis master is killed', async () => {
    process.kill(Number(await readFile(join(data, 'redis-1.pid'), 'utf8')), 'SIGKILL');
    client.process.stdin.write('\n');
    await client.says('Enter calls them again', 2);
    expect(round(2)).toEqual(expectedAnswers());
    await start.says('redis-1 has ended: with SIGKILL');
    expect(client.output().split('asks for a login')).toHaveLength(2);
  });

  it('lets a new client log in at the server that has taken over', async () => {
    const second = runProgram(`${EXAMPLE}/client.ts`, ['--no-browser', ...urls]);
    await second.says('Waiting.');
    const browser = createTestBrowser();
    const corp = await browser.submit(await browser.travel(loginAddressIn(second.output())), { decision: 'allow' });
    await browser.submit(await browser.submit(corp, { user: 'bob' }), { user: 'bob' });
    await second.says('Enter calls them again');
    expect(second.output().match(/takes you for bob/g)).toHaveLength(6);
    second.process.stdin.end();
    expect(await second.end()).toBe(0);
  });

  it('asks for a login when somebody has ended it', async () => {
    const { stdout } = await sally(['auth', 'revoke', '--user', 'alice@example.test'], {
      env: { SALLYPORT_HOME: home.path },
    });
    expect(stdout).toContain('1 login ended');
    client.process.stdin.write('\n');
    await client.says('asks for a login', 2);
  });

  it('refuses tokens at the servers themselves that were not made for them', async () => {
    const tickets = /^tickets +(\d+) /m.exec(start.output())?.[1];
    for (const authorization of ['', 'Bearer made-up']) {
      const answer = await fetch(`http://127.0.0.1:${tickets}/mcp`, { method: 'POST', headers: { authorization } });
      expect(answer.status).toBe(401);
    }
  });

  it('ends on Ctrl-C with everything it started, and leaves no secret behind', async () => {
    start.process.kill('SIGINT');
    expect(await start.end()).toBe(0);
    await eventually(
      () => processesWith('XDG_TEST_MARK', MARK),
      (left) => left.length === 0,
    );
    await expect(readFile(join(data, 'secrets/desk/hmac-secret'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  function expectedAnswers(): readonly string[] {
    const at = (part: string): string =>
      `http://127.0.0.1:${new RegExp(`^${part} +(\\d+) `, 'm').exec(start.output())?.[1]}`;
    const answers = [
      `tickets_whoami tickets takes you for alice, because of a token that ${at('corp')} knows`,
      `code_whoami code takes you for bob, because of a token that ${at('hub')} knows`,
      `reports_whoami reports takes you for alice, because of a token that ${at('corp')} signed for reports alone`,
    ];
    return urls.slice(1).flatMap((gateway) => [gateway, ...answers.toSorted()]);
  }
});

describe('the page of the example', () => {
  it('has every command to type in that the script runs', async () => {
    const text = await readFile(join(ROOT, EXAMPLE, 'README.md'), 'utf8');
    const lines = text.split('\n').map((line) => line.replace(/ +#.*$/, ''));
    const commands = partsOf({ ports: PORTS, data: '$DATA', resources: EXAMPLE }).flat().map(commandLine);
    expect(commands.filter((command) => !lines.includes(command))).toEqual([]);
  });

  it('gives the gateways the rights at Redis that the documentation names', async () => {
    const docs = await readFile(join(ROOT, 'docs/storage.md'), 'utf8');
    const [, rights = 'no such line'] = /^user sally on >PASSWORD (.*)$/m.exec(docs) ?? [];
    expect(await readFile(join(ROOT, EXAMPLE, 'prepare.ts'), 'utf8')).toContain(`'${rights}'`);
  });
});
