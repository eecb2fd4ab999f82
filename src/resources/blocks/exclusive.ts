import type { Rule } from '../traits.ts';

/**
 * Kubernetes has no unions, so a choice is a `type` beside one optional block per choice. These are the two rules that
 * make it a union again: the chosen block is there, and no other is.
 */
export function blockOf<T extends { readonly type: string }>(
  type: T['type'],
  block: keyof T & string,
): readonly Rule<T>[] {
  return [requiredFor<T>(type, block), onlyFor<T>(type, block)];
}

export function requiredFor<T extends { readonly type: string }>(type: T['type'], block: keyof T & string): Rule<T> {
  return {
    at: block,
    says: `is required when type is ${type}`,
    holds: (value) => value.type !== type || value[block] !== undefined,
    cel: `self.type != '${type}' || has(self.${block})`,
  };
}

export function onlyFor<T extends { readonly type: string }>(type: T['type'], block: keyof T & string): Rule<T> {
  return {
    at: block,
    says: `is allowed only when type is ${type}`,
    holds: (value) => value.type === type || value[block] === undefined,
    cel: `self.type == '${type}' || !has(self.${block})`,
  };
}
