import type { AuthAdmin, AuthServer, AuthServerMemory } from '../authserver/index.ts';
import type { Log } from '../base/index.ts';
import type { Access } from '../gateway/index.ts';
import type { AuthServerPlan } from '../plan/index.ts';

/** The authorization servers of one `sally`. What each remembers outlives a change of its plan. */
export interface AuthServers {
  open(plan: AuthServerPlan): Promise<AuthServer>;
  /** One for each server that is open, for whoever runs it. */
  admins(): readonly AuthAdmin[];
}

export function createAuthServers(log: Log, { trustProxyHeaders }: Access): AuthServers {
  const memories = new Map<string, AuthServerMemory>();
  /** During a reload there are two of one name, over the same rows. The newer one comes last. */
  const open = new Set<{ readonly name: string; readonly admin: AuthAdmin }>();
  return {
    admins: () => [...new Map([...open].map(({ name, admin }) => [name, admin])).values()],
    async open(plan) {
      // Loaded only where one is declared: the library behind it is the heaviest we have.
      const { createAuthServer, createAuthServerMemory, forwardedAddressOf } = await import('../authserver/index.ts');
      const memory = memories.get(plan.name) ?? createAuthServerMemory();
      memories.set(plan.name, memory);
      const server = await createAuthServer(plan, {
        memory,
        log,
        ...(trustProxyHeaders ? { sourceOf: forwardedAddressOf } : {}),
      });
      const entry = { name: plan.name, admin: server.admin };
      open.add(entry);
      return {
        ...server,
        close() {
          open.delete(entry);
          return server.close();
        },
      };
    },
  };
}
