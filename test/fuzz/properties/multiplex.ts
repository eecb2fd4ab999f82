import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SallyError } from '../../../src/base/index.ts';
import { createMultiplex } from '../../../src/gateway/backends/multiplex.ts';
import { type Answer, read } from '../../../src/gateway/call.ts';
import { LiveCall } from '../../../src/gateway/clients/live-call.ts';
import { parseMessage } from '../../../src/mcp/json-rpc.ts';
import type { Property } from './property.ts';

/** What a hostile server does next. Numbers choose among the requests it got. */
type Move =
  | { readonly kind: 'answer' | 'answer twice' | 'error' | 'progress' | 'cancel'; readonly which: number }
  | { readonly kind: 'ask' }
  | { readonly kind: 'never asked' }
  | { readonly kind: 'log' }
  | { readonly kind: 'list changed' }
  | { readonly kind: 'line'; readonly text: string };

const move: fc.Arbitrary<Move> = fc.oneof(
  fc
    .tuple(fc.constantFrom('answer', 'answer', 'answer twice', 'error', 'progress', 'cancel'), fc.nat())
    .map(([kind, which]): Move => ({ kind: kind as 'answer', which })),
  fc.constantFrom('ask', 'never asked', 'log', 'list changed').map((kind): Move => ({ kind: kind as 'ask' })),
  fc
    .oneof(
      fc.json(),
      fc.string(),
      fc
        .tuple(
          fc.constantFrom('1', '"1"', '1.0', '-1', '0', 'null', '[1]', '{}', '1e999', '9007199254740993', 'true'),
          fc.constantFrom(
            '"result":{}',
            '"result":7',
            '"error":{"code":1,"message":"x"}',
            '"error":{}',
            '"result":null',
          ),
        )
        .map(([id, rest]) => `{"jsonrpc":"2.0","id":${id},${rest}}`),
    )
    .map((text): Move => ({ kind: 'line', text })),
);

const CALLERS = ['alice', 'bob', 'carol'];

export const multiplex: readonly Property[] = [
  {
    says: 'a hostile server cannot crash a shared connection, nor give a caller what was said to another',
    runs: 500,
    make: () =>
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.array(move, { maxLength: 30 }),
        fc.array(fc.nat(), { maxLength: 3 }),
        async (count, moves, leaving) => {
          const requests: { readonly id: number; readonly text: string; readonly token: unknown }[] = [];
          const connection = createMultiplex(
            (text) => {
              const { id, method, params } = JSON.parse(text);
              if (method === 'tools/call')
                requests.push({ id, text: params.arguments.text, token: params._meta.progressToken });
            },
            () => {},
          );

          const told: { readonly call: number; readonly token: unknown; readonly from: unknown }[] = [];
          const calls = Array.from({ length: count }, (_, index) => caller(index, told));
          const answers = calls.map((call) => connection.request(call, 'tools/call', call.params));
          const settled = Promise.allSettled(answers);
          assert.equal(new Set(requests.map(({ id }) => id)).size, count, 'our own ids are unique');

          for (const leaver of leaving) calls[leaver % count]?.cancel('left');
          for (const next of moves) for (const line of linesOf(next, requests)) hear(connection.receive, line);
          await new Promise((resolve) => setImmediate(resolve));
          connection.end(new SallyError('backend.unreachable', 'the end'));

          for (const [index, outcome] of (await settled).entries()) {
            if (outcome.status === 'rejected') assert(outcome.reason instanceof SallyError);
            else assertOwn(outcome.value, `text ${index}`);
          }
          // Tokens of the callers are all equal on purpose: progress goes by ours, and comes back with theirs.
          for (const { call, token, from } of told) {
            assert.equal(token, 'same');
            assert.equal(from, `text ${call}`);
          }
        },
      ),
  },
];

function caller(index: number, told: { call: number; token: unknown; from: unknown }[]): LiveCall {
  const call = new LiveCall({
    id: 1,
    method: 'tools/call',
    params: { name: 'say', arguments: { text: `text ${index}` }, _meta: { progressToken: 'same' } },
    raw: undefined,
    identity: { kind: 'anonymous' },
    client: {
      era: 'legacy',
      revision: '2025-11-25',
      capabilities: {},
      info: undefined,
      key: CALLERS[index % CALLERS.length] ?? '',
      alone: true,
      logLevel: undefined,
    },
    paramHeaders: undefined,
  });
  call.channel = {
    tell(method, params) {
      if (method === 'notifications/progress')
        told.push({ call: index, token: params.progressToken, from: params.message });
    },
    ask: () => Promise.resolve({ result: {} }),
  };
  return call;
}

function linesOf(move: Move, requests: readonly { readonly id: number; readonly text: string }[]): string[] {
  if (move.kind === 'line') return [move.text];
  if (move.kind === 'never asked') return ['{"jsonrpc":"2.0","id":12345,"result":{"text":"nobody"}}'];
  if (move.kind === 'ask') return ['{"jsonrpc":"2.0","id":"q","method":"roots/list"}'];
  if (move.kind === 'log')
    return ['{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}'];
  if (move.kind === 'list changed') return ['{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'];
  const request = requests[move.which % Math.max(1, requests.length)];
  if (!request) return [];
  const { id, text } = request;
  const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { text } });
  switch (move.kind) {
    case 'answer':
      return [answer];
    case 'answer twice':
      return [answer, JSON.stringify({ jsonrpc: '2.0', id, result: { text: 'the second answer' } })];
    case 'error':
      return [JSON.stringify({ jsonrpc: '2.0', id, error: { code: -1, message: text } })];
    case 'progress':
      return [
        JSON.stringify({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: id, progress: 1, message: text },
        }),
      ];
    case 'cancel':
      return [JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })];
  }
}

/** As a line of a process is heard: what is no message is passed over. */
function hear(receive: (message: ReturnType<typeof parseMessage>) => void, line: string): void {
  let message: ReturnType<typeof parseMessage>;
  try {
    message = parseMessage(line);
  } catch (error) {
    assert(error instanceof SallyError);
    return;
  }
  receive(message);
}

function assertOwn(answer: Answer, text: string): void {
  const told = read(answer);
  // A line with one of our ids is an answer, whatever else it is; only texts that were put in must be the caller's own.
  if ('result' in told) assert(told.result.text === undefined || told.result.text === text);
  else assert(told.error.code !== -1 || told.error.message === text);
}
