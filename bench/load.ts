import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Message } from './messages.ts';
import { cpuMicros, pinned } from './processes.ts';

/** Somebody to be measured: where it answers, which process it is, and what it is sent in turn. */
export interface Subject {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly messages: readonly Message[];
}

export interface Sample {
  readonly callsPerSecond: number;
  /** Of the process under test, in microseconds. */
  readonly cpuPerCall: number;
  readonly p50: number;
  readonly p99: number;
  readonly calls: number;
}

const SCRIPT = join(import.meta.dirname, 'wrk.lua');

/** Runs wrk against one subject. Any error makes the figure worthless, so it ends the bench. */
export async function measure(subject: Subject, connections: number, seconds: number, folder: string): Promise<Sample> {
  const requests = join(folder, 'requests.txt');
  await writeFile(requests, subject.messages.map((message) => `${rawRequest(subject.url, message)}\x1e`).join(''));
  const { origin } = new URL(subject.url);
  const command = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', SCRIPT, origin];
  const [program = '', ...args] = pinned('around', command);
  const before = cpuMicros(subject.pid);
  const wrk = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_REQUESTS: requests },
  });
  let text = '';
  wrk.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(wrk, 'close');
  const used = cpuMicros(subject.pid) - before;
  const found = /^BENCH (.*)$/m.exec(text)?.[1];
  if (found === undefined) throw new Error(`wrk failed against ${subject.name}:\n${text}`);
  const result = JSON.parse(found) as { requests: number; micros: number; p50: number; p99: number; errors: number };
  if (result.errors > 0 || result.requests === 0) {
    throw new Error(`${subject.name}: ${result.errors} errors in ${result.requests} calls`);
  }
  return {
    callsPerSecond: (result.requests / result.micros) * 1e6,
    cpuPerCall: used / result.requests,
    p50: result.p50,
    p99: result.p99,
    calls: result.requests,
  };
}

function rawRequest(url: string, { headers, body }: Message): string {
  const { pathname, host } = new URL(url);
  const lines = Object.entries({ host, ...headers, 'content-length': Buffer.byteLength(body) });
  return `POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

/** Sends one message and gives the answer's result, to see that what is about to be measured works. */
export async function send(url: string, { headers, body }: Message): Promise<{ result: unknown; session: string }> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
  const { result } = JSON.parse(data) as { result?: unknown };
  if (result === undefined) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 400)}`);
  return { result, session: response.headers.get('mcp-session-id') ?? '' };
}
