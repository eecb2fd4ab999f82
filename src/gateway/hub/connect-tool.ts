import type { AggregationPlan } from '../../plan/index.ts';
import { type Answer, type Backend, type Item, read } from '../call.ts';
import { beginning, prefixed, presentable } from './naming.ts';

type Many = Extract<AggregationPlan, { kind: 'many' }>;

const PREFIX = 'connect_';

/**
 * A server that wants an account which the user has not connected lists nothing, and nobody would ever call it. In place of its
 * tools stands one that connects the account. Calling it asks the server for its tools, which needs the login.
 */
export interface ConnectTools {
  /** Those that are of use now. */
  listed(): readonly Item[];
  /** A server of which nothing is known yet for this user, and that may have a tool of this name. */
  ownerOf(tool: string): Backend | undefined;
  /** The backend that such a tool connects: also when it is connected by now, for the client that was sent away to do it. */
  backendOf(tool: string): Backend | undefined;
}

export function createConnectTools(
  backends: readonly Backend[],
  personal: ReadonlySet<string>,
  plan: Many,
): ConnectTools {
  const candidates = backends.filter(({ name }) => personal.has(name) && mayOffer(plan, name));
  return {
    listed: () => candidates.filter(needsLogin).map(toolFor),
    ownerOf: (tool) => candidates.find((backend) => !backend.listing() && mayOwn(plan, backend, tool)),
    backendOf: (tool) => (tool.startsWith(PREFIX) ? candidates.find(({ name }) => tool === nameFor(name)) : undefined),
  };
}

/** What the user is told once the account is connected. */
export function connected({ name }: Backend, answer: Answer): Answer {
  const told = read(answer);
  if ('error' in told) return told;
  const text = `${name} is connected. Its tools are in the list now.`;
  return { result: { content: [{ type: 'text', text }] } };
}

/** Nothing is known of it because the user has no login for it. */
export function needsLogin(backend: Backend): boolean {
  const state = backend.state();
  return !backend.listing() && state.kind === 'down' && state.error.code === 'outgoing.login_needed';
}

/** Where names carry the name of their server, only that one comes into question. */
function mayOwn({ conflicts }: Many, { name }: Backend, tool: string): boolean {
  return conflicts.kind !== 'prefix' || tool.startsWith(beginning(prefixed(conflicts.format, name, '')));
}

/** A server whose tools are hidden stays hidden. */
function mayOffer({ tools, offerNone, offerOthers }: Many, backend: string): boolean {
  const rules = tools.get(backend);
  return !offerNone && (rules ? !rules.excludeAll : offerOthers);
}

function nameFor(backend: string): string {
  return presentable(`${PREFIX}${backend}`);
}

function toolFor({ name }: Backend): Item {
  return {
    name: nameFor(name),
    description: `Connects the user's account for ${name}. Call it when the user wants something that ${name} can do: its tools appear once the account is connected.`,
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    annotations: { title: `Connect ${name}`, readOnlyHint: true, openWorldHint: true },
  };
}
