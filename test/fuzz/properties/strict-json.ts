import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SallyError } from '../../../src/base/index.ts';
import { parseClientMessage, type RpcMessage } from '../../../src/mcp/json-rpc.ts';
import { parseStrict } from '../../../src/mcp/strict-json.ts';
import type { Property } from './property.ts';

/** A JSON value and one way to write it: spaces, escapes and number forms differ, the meaning does not. */
interface Written {
  readonly text: string;
  /** Some object in it has a key twice. */
  readonly twice: boolean;
  readonly depth: number;
}

const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n  ');
const word = fc.constantFrom(
  'null',
  'true',
  'false',
  '0',
  '-0',
  '1e3',
  '1E-2',
  '12345678901234567890',
  '-1.50',
  '1e999',
);
const letters = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('method', 'id', 'params', '__proto__', 'a', 'b', '\\', '"', '\\"', '\\\\', '\0', '\u2028', '{', '}'),
);

/** A string in quotes, plain or with every character escaped. */
const text = fc
  .tuple(letters, fc.boolean())
  .map(([value, escaped]) => ({ value, text: escaped ? escapeAll(value) : JSON.stringify(value) }));

function escapeAll(value: string): string {
  let out = '"';
  for (let index = 0; index < value.length; index++)
    out += `\\u${value.charCodeAt(index).toString(16).padStart(4, '0')}`;
  return `${out}"`;
}

const { json } = fc.letrec<{ json: Written }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc
      .oneof(
        word,
        text.map(({ text }) => text),
      )
      .map((text) => ({ text, twice: false, depth: 0 })),
    fc.array(fc.tuple(space, tie('json'), space), { maxLength: 5 }).map((items) => ({
      text: `[${items.map(([before, { text }, after]) => before + text + after).join(',')}]`,
      twice: items.some(([, { twice }]) => twice),
      depth: 1 + Math.max(0, ...items.map(([, { depth }]) => depth)),
    })),
    fc.array(fc.tuple(space, text, space, tie('json'), space), { maxLength: 20 }).map((members) => ({
      text: `{${members.map(([a, key, b, { text }, c]) => `${a}${key.text}${b}:${a}${text}${c}`).join(',')}}`,
      twice:
        new Set(members.map(([, { value }]) => value)).size < members.length ||
        members.some(([, , , { twice }]) => twice),
      depth: 1 + Math.max(0, ...members.map(([, , , { depth }]) => depth)),
    })),
  ),
}));

/** What a function gives, or the code of its refusal. Anything else it throws is a bug. */
function outcome<T>(run: () => T): { readonly value: T } | { readonly refused: string } {
  try {
    return { value: run() };
  } catch (error) {
    assert(error instanceof SallyError, `threw ${String(error)}`);
    return { refused: error.code };
  }
}

export const strictJson: readonly Property[] = [
  {
    says: 'the strict reader reads what JSON.parse reads, and refuses exactly the texts with a key twice',
    runs: 1_000,
    make: () =>
      fc.property(json, ({ text, twice }) => {
        const read = outcome(() => parseStrict(text));
        if (twice) assert.deepEqual(read, { refused: 'call.invalid_request' });
        else assert.deepEqual('value' in read && read.value.value, JSON.parse(text));
      }),
  },
  {
    says: 'the strict reader refuses what JSON.parse refuses, whatever it is',
    runs: 1_000,
    make: () =>
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), damaged()), (text) => {
        const read = outcome(() => parseStrict(text));
        let plain: unknown;
        try {
          plain = JSON.parse(text);
        } catch {
          assert.deepEqual(read, { refused: 'call.parse_error' });
          return;
        }
        if ('value' in read) assert.deepEqual(read.value.value, plain);
        else assert.equal(read.refused, 'call.invalid_request');
      }),
  },
  {
    says: 'each member of params, cut out as it was written, reads as the same value',
    runs: 1_000,
    make: () =>
      fc.property(json, fc.dictionary(letters, json, { maxKeys: 6 }), space, (other, params, gap) => {
        const members = Object.entries(params).map(
          ([key, { text }]) => `${gap}${JSON.stringify(key)}${gap}:${gap}${text}`,
        );
        const message = `{"x":${other.text},${gap}"params":${gap}{${members.join(`${gap},`)}${gap}}${gap},"y":{"params":{"z":1}}}`;
        const read = outcome(() => parseStrict(message));
        if ('refused' in read) return;
        const { params: parsed } = read.value.value as { params: Record<string, unknown> };
        assert.deepEqual([...(read.value.raw?.keys() ?? [])].sort(), Object.keys(parsed).sort());
        for (const [key, slice] of read.value.raw ?? []) assert.deepEqual(JSON.parse(slice), parsed[key]);
      }),
  },
  {
    says: 'nesting is read up to a limit, and refused beyond it without a crash',
    runs: 60,
    make: () =>
      fc.property(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom('[]', '{}'), (depth, kind) => {
        const [open, close] = kind === '[]' ? ['[', ']'] : ['{"a":', '}'];
        const read = outcome(() => parseStrict(`${open.repeat(depth)}1${close.repeat(depth)}`));
        if (depth <= 128) assert('value' in read);
        else assert.deepEqual(read, { refused: 'call.invalid_request' });
      }),
  },
  {
    says: 'a message of a client is taken or refused, and never anything else happens',
    runs: 1_000,
    make: () =>
      fc.property(fc.array(envelope(), { minLength: 1, maxLength: 3 }), (texts) => {
        const text = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(',')}]`;
        const read = outcome(() => decode(text));
        if ('refused' in read) return;
        // A list is a batch, each of whose messages has to stand the same test.
        for (const message of read.value) {
          assert.equal(message.jsonrpc, '2.0');
          for (const key of Object.keys(message))
            if (/^(jsonrpc|id|method|params|result|error)\0*$/i.test(key)) assert.equal(key, key.toLowerCase());
          if ('method' in message) assert.equal(typeof message.method, 'string');
          if ('id' in message && message.id !== undefined)
            assert(typeof message.id === 'string' || Number.isSafeInteger(message.id));
        }
      }),
  },
];

/** The message of a client, or those of a batch. */
function decode(text: string): readonly RpcMessage[] {
  const read = parseClientMessage(text);
  return 'message' in read ? [read.message] : read;
}

/** A JSON text with a piece taken out, doubled or overwritten. */
function damaged(): fc.Arbitrary<string> {
  return fc
    .tuple(json, fc.nat(), fc.nat({ max: 4 }), fc.string({ maxLength: 3 }))
    .map(([{ text }, place, cut, put]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at + cut);
    });
}

/** Something like a JSON-RPC message, with the members that matter spelled in many ways. */
function envelope(): fc.Arbitrary<string> {
  const key = fc
    .tuple(fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', 'x'), fc.nat({ max: 9 }))
    .map(([name, form]) =>
      form === 0
        ? name.toUpperCase()
        : form === 1
          ? `${name}\\u0000`
          : form === 2
            ? `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`
            : name,
    );
  const value = fc.oneof(
    fc.constantFrom(
      '"2.0"',
      '"2.0"',
      '1',
      '"tools/call"',
      '"ping"',
      '{}',
      '{"name":"x"}',
      '{"NAME":"x"}',
      '[]',
      'null',
    ),
    json.map(({ text }) => text),
  );
  return fc
    .array(fc.tuple(key, value), { maxLength: 6 })
    .map((members) => `{"jsonrpc":"2.0"${members.map(([name, text]) => `,"${name}":${text}`).join('')}}`);
}
