import { expect, it } from 'vitest';
import { readDocuments } from '../sources/yaml-documents.ts';
import { secretFromResources } from './secret-values.ts';
import { EXAMPLES, textValidator } from './testing/examples.ts';

const { resources } = textValidator(readDocuments).validateText(`${EXAMPLES}---
apiVersion: v1
kind: Secret
metadata: {name: both}
stringData: {a: text}
data: {a: b2xk, b: w7w=}
`);

it.each([
  ['both', 'a', 'text'],
  ['both', 'b', 'ü'],
  ['both', 'c', undefined],
  ['both', 'constructor', undefined],
  ['nobody', 'a', undefined],
])('secret %s, key %s holds %s', (name, key, expected) => {
  expect(secretFromResources(resources, { namespace: 'default', name, key })?.reveal()).toBe(expected);
});

it('a secret of another namespace is not there', () => {
  expect(secretFromResources(resources, { namespace: 'other', name: 'both', key: 'a' })).toBeUndefined();
});
