import type { ToolsPlan } from '../../plan/index.ts';
import type { Item } from '../call.ts';

/** A tool as clients see it: with its overrides under its new name, or not at all. The filter speaks of the name after renaming. */
export function shownTool(tool: Item, rules: ToolsPlan | undefined): Item | undefined {
  if (!rules) return tool;
  const own = String(tool.name);
  const { name = own, description, annotations } = rules.overrides.get(own) ?? {};
  if (rules.excludeAll || (rules.filter.size > 0 && !rules.filter.has(name))) return undefined;
  return {
    ...tool,
    name,
    ...(description === undefined ? {} : { description }),
    ...(annotations === undefined
      ? {}
      : { annotations: { ...(tool.annotations as object | undefined), ...annotations } }),
  };
}

/** From the names that clients use back to those of the server. Made once: a call costs no more for many rules than for one. */
export function ownNames(rules: ToolsPlan): (shown: string) => string | undefined {
  const renamed = new Map<string, string>();
  for (const [own, { name }] of rules.overrides) if (name !== undefined) renamed.set(name, own);
  return (shown) => {
    if (rules.excludeAll || (rules.filter.size > 0 && !rules.filter.has(shown))) return undefined;
    const own = renamed.get(shown);
    if (own !== undefined) return own;
    // Its old name is gone with the new one: it can be called by one name, not by two.
    return rules.overrides.get(shown)?.name === undefined ? shown : undefined;
  };
}

/** The tools of one server under their names. Where a new name is one that another tool has, the renamed tool has it. */
export function shownTools(tools: readonly Item[], rules: ToolsPlan): readonly Item[] {
  const own = ownNames(rules);
  return tools.flatMap((tool) => {
    const shown = shownTool(tool, rules);
    return shown && own(String(shown.name)) === tool.name ? [shown] : [];
  });
}
