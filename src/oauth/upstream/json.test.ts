import { describe, expect, it } from 'vitest';
import { firstTextAt, parseProviderObject, textAt, valueAt } from './json.ts';

describe('JSON of providers', () => {
  it('keeps numbers digit for digit', () => {
    const object = parseProviderObject('{"id": 9007199254740993, "nested": {"ids": [1e3, -0]}}');
    expect(object).toEqual({ id: '9007199254740993', nested: { ids: ['1e3', '-0'] } });
  });

  it.each(['[1]', '"text"', 'null', '7', '{"a":', ''])('is an object or nothing: %s', (text) => {
    expect(parseProviderObject(text)).toBeUndefined();
  });

  it('finds members, nested members and array entries', () => {
    const object = parseProviderObject('{"a": {"b": [{"c": "deep"}]}, "x.y": "dotted", "x": {"y": "nested"}}') ?? {};
    expect(textAt(object, 'a.b.0.c')).toBe('deep');
    expect(textAt(object, 'x.y')).toBe('dotted');
  });

  it.each(['constructor', 'a.__proto__', 'a.constructor.name', 'list.length', 'list.map', 'text.length', 'a.b.c', ''])(
    'finds nothing that the provider did not write: %s',
    (path) => {
      const object = parseProviderObject('{"a": {"b": null}, "list": ["x"], "text": "x"}') ?? {};
      expect(valueAt(object, path)).toBeUndefined();
    },
  );

  it('does not let a document reach the prototype', () => {
    const object = parseProviderObject('{"__proto__": {"polluted": "yes"}}') ?? {};
    expect(valueAt(object, '__proto__.polluted')).toBe('yes');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(valueAt(object, 'polluted')).toBeUndefined();
  });

  it('takes the first of several fields that has a text', () => {
    const object = parseProviderObject('{"sub": "", "id": 7, "login": "octo", "admin": true}') ?? {};
    expect(firstTextAt(object, ['admin', 'sub', 'id', 'login'])).toBe('7');
  });
});
