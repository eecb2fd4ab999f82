import { describe, expect, it } from 'vitest';
import type { ToolsPlan } from '../../plan/index.ts';
import { ownNames, shownTools } from './tool-rules.ts';

function rules(overrides: Record<string, { name?: string; description?: string }>, ...filter: string[]): ToolsPlan {
  return { filter: new Set(filter), overrides: new Map(Object.entries(overrides)), excludeAll: false };
}

const TOOLS = ['read', 'write', 'open'].map((name) => ({ name, title: `The ${name} tool`, inputSchema: {} }));

describe('rules for the tools of one server', () => {
  it('rename and describe, and leave everything else as it was', () => {
    const shown = shownTools(TOOLS, rules({ read: { name: 'fetch', description: 'Fetch it' } }));
    expect(shown).toEqual([
      { name: 'fetch', title: 'The read tool', description: 'Fetch it', inputSchema: {} },
      TOOLS[1],
      TOOLS[2],
    ]);
  });

  it('filter by the names that clients see', () => {
    const plan = rules({ read: { name: 'fetch' } }, 'fetch', 'open');
    expect(shownTools(TOOLS, plan).map(({ name }) => name)).toEqual(['fetch', 'open']);
    expect(shownTools(TOOLS, rules({}, 'read'))).toEqual([TOOLS[0]]);
  });

  it('lead back from each shown name to one tool, and from hidden and old names to none', () => {
    const own = ownNames(
      rules({ read: { name: 'fetch' }, write: { description: 'x' } }, 'fetch', 'write', 'constructor'),
    );
    expect(['fetch', 'read', 'write', 'open', 'constructor', '__proto__'].map(own)).toEqual([
      'read',
      undefined,
      'write',
      undefined,
      'constructor',
      undefined,
    ]);
  });

  it('swap two names, and hide a tool whose name another one took', () => {
    const swapped = rules({ read: { name: 'write' }, write: { name: 'read' } });
    expect(['read', 'write'].map(ownNames(swapped))).toEqual(['write', 'read']);
    expect(shownTools(TOOLS, swapped).map(({ name, title }) => [name, title])).toEqual([
      ['write', 'The read tool'],
      ['read', 'The write tool'],
      ['open', 'The open tool'],
    ]);
    expect(shownTools(TOOLS, rules({ read: { name: 'open' } })).map(({ title }) => title)).toEqual([
      'The read tool',
      'The write tool',
    ]);
  });
});
