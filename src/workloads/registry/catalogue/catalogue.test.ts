import { describe, expect, it } from 'vitest';
import { isImageReference, parsePackageReference } from '../../../resources/index.ts';
import type { Way } from '../entry.ts';
import { CATALOGUE } from './index.ts';

/** What the catalogue says is written by hand, so it keeps to the rules that we make for others. */
describe('the built-in catalogue', () => {
  it('has plenty of servers, each with a name of its own', () => {
    expect(CATALOGUE.length).toBeGreaterThanOrEqual(25);
    expect(new Set(CATALOGUE.map(({ name }) => name)).size).toBe(CATALOGUE.length);
  });

  const ways: readonly (readonly [string, Way])[] = CATALOGUE.flatMap(({ name, ways: all }) =>
    all.map((way) => [name, way] as const),
  );

  it.each(CATALOGUE.map((entry) => [entry.name, entry] as const))(
    '%s has a plain name, a short description and a way to run',
    (_, entry) => {
      expect(entry.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(entry.description).toMatch(/^[A-Z][\x20-\x7e]{8,79}[^.]$/);
      expect(entry.ways.length).toBeGreaterThan(0);
      for (const tag of entry.tags) expect(tag).toMatch(/^[a-z]+$/);
    },
  );

  it.each(ways)('%s can be started as it is written: %o', (_, way) => {
    switch (way.kind) {
      case 'package':
        expect(parsePackageReference(way.server)).toHaveProperty('version');
        break;
      case 'image':
        expect(isImageReference(way.server)).toBe(true);
        break;
      case 'remote':
        expect(URL.parse(way.server)).toMatchObject({ protocol: 'https:', href: way.server });
    }
  });

  it.each(ways)('%s confines its containers and declares its variables properly: %o', (_, way) => {
    if (way.kind !== 'remote') {
      expect(way.permissions?.network?.outbound).toBeDefined();
      expect(way.permissions).not.toHaveProperty('privileged');
    }
    for (const { name, secret, description } of way.env) {
      expect(name).toMatch(/^[A-Z][A-Z0-9_]*$/);
      expect(description).toBeTruthy();
      if (/TOKEN|KEY|PASSWORD|SECRET|CONNECTION_STRING/.test(name)) expect(secret).toBe(true);
    }
  });
});
