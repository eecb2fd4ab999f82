/** Which rows end together. A member stays known as long as its row can live, and a group as long as it has members. */
export interface Groups {
  join(group: string, member: string, ttl: number): void;
  leave(group: string, member: string): void;
  members(group: string): readonly string[];
  sweep(): void;
  clear(): void;
  /** Members of all groups. */
  size(): number;
}

export function createGroups(now: () => number): Groups {
  /** Member to the time its membership ends. */
  const groups = new Map<string, Map<string, number>>();
  let size = 0;

  function leave(group: string, member: string): void {
    const members = groups.get(group);
    if (!members?.delete(member)) return;
    size--;
    if (members.size === 0) groups.delete(group);
  }

  return {
    leave,
    join(group, member, ttl) {
      const members = groups.get(group) ?? new Map<string, number>();
      groups.set(group, members);
      const known = members.get(member);
      if (known === undefined) size++;
      members.set(member, Math.max(known ?? 0, now() + ttl * 1000));
    },
    members(group) {
      const time = now();
      return [...(groups.get(group) ?? [])].filter(([, expires]) => expires > time).map(([member]) => member);
    },
    sweep() {
      const time = now();
      for (const [group, members] of groups) {
        for (const [member, expires] of members) if (expires <= time) leave(group, member);
      }
    },
    clear() {
      groups.clear();
      size = 0;
    },
    size: () => size,
  };
}
