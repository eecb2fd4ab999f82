import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeHeaderValue, encodeHeaderValue, headerParamsOf, mirroredText } from '../../../src/mcp/headers.ts';
import type { Property } from './property.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ' ', ' a', 'a ', '\r\nx: y', '\0', '=?base64?YQ==?=', '=?base64??=', 'grüße', '🎈', '\x7f'),
);

export const headers: readonly Property[] = [
  {
    says: 'every text survives the way through a header, and the header is always one plain line',
    runs: 2_000,
    make: () =>
      fc.property(text, (value) => {
        const header = encodeHeaderValue(value);
        assert.match(header, /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/);
        assert.equal(decodeHeaderValue(header), value);
        assert.equal(decodeHeaderValue(`  ${header} \t`), value);
      }),
  },
  {
    says: 'any header value is read as a text or refused',
    runs: 1_000,
    make: () =>
      fc.property(
        fc.oneof(
          text,
          text.map((inner) => `=?base64?${inner}?=`),
        ),
        (value) => {
          const read = decodeHeaderValue(value);
          assert(read === undefined || typeof read === 'string');
        },
      ),
  },
  {
    says: 'the arguments to mirror are found or refused for any schema, each with a header name of its own',
    runs: 1_000,
    make: () =>
      fc.property(schema(), fc.jsonValue(), (inputSchema, args) => {
        const found = headerParamsOf(inputSchema) ?? [];
        assert.equal(new Set(found.map(({ header }) => header.toLowerCase())).size, found.length);
        for (const { header, path } of found) {
          assert.match(header, /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);
          const mirrored = mirroredText({ arguments: args }, path);
          assert(mirrored === undefined || typeof mirrored === 'string');
        }
      }),
  },
];

function schema(): fc.Arbitrary<unknown> {
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.record({
        type: fc.constantFrom('string', 'integer', 'boolean', 'number', 'object', 7),
        'x-mcp-header': fc.oneof(fc.constantFrom('A', 'a', 'Region', '', 'x y', 'a\r\nb', 7), fc.string()),
      }),
      fc.record({ type: fc.constant('object'), properties: fc.dictionary(fc.string(), tie('tree')) }),
      fc.record({ anyOf: fc.array(tie('tree'), { maxLength: 2 }) }),
      fc.jsonValue(),
    ),
  }));
  return tree;
}
