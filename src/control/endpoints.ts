import type { SallyError } from '../base/index.ts';
import type { BackendReport } from '../gateway/index.ts';
import type { Problem } from '../resources/index.ts';
import type { OpenDoor } from './doors.ts';

/** One MCP endpoint as people and scripts want to know it. */
export interface Endpoint {
  readonly name: string;
  readonly url: string;
  readonly backends: readonly BackendSummary[];
}

export interface BackendSummary {
  readonly name: string;
  readonly state: BackendReport['state']['kind'];
  readonly revision?: string;
  readonly tools?: number;
  readonly error?: string;
  readonly hint?: string;
}

/** What a serving command has to tell. */
export type ServeEvent =
  | { readonly event: 'ready' | 'reloaded'; readonly endpoints: readonly Endpoint[] }
  | { readonly event: 'refused'; readonly error: SallyError; readonly problems: readonly Problem[] };

export function endpointsOf(doors: readonly OpenDoor[]): readonly Endpoint[] {
  return doors.flatMap(({ url, gateways }) =>
    gateways.map((gateway) => ({
      name: gateway.plan.name,
      url: `${url}${gateway.plan.oldSse?.shown ? '/sse' : gateway.plan.paths[0]}`,
      backends: gateway.report().map(summarise),
    })),
  );
}

function summarise({ name, state, tools, revision }: BackendReport): BackendSummary {
  const spoken = revision === undefined ? {} : { revision };
  switch (state.kind) {
    case 'connecting':
    case 'personal':
      return { name, state: state.kind };
    case 'ready':
      return { name, state: state.kind, ...spoken, ...(tools === undefined ? {} : { tools }) };
    case 'down': {
      const { message, hint } = state.error;
      return { name, state: state.kind, error: message, ...(hint === undefined ? {} : { hint }) };
    }
  }
}
