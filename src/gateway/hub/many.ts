import { type Log, SallyError } from '../../base/index.ts';
import { isObject, type Params } from '../../mcp/index.ts';
import type { AggregationPlan } from '../../plan/index.ts';
import type { Answer, Backend, Call, Item, ListKind } from '../call.ts';
import { connected, createConnectTools, needsLogin } from './connect-tool.ts';
import type { Forward } from './forward.ts';
import { greetingOfAll } from './greeting.ts';
import { type Members, unknownResource } from './hub.ts';
import { pageOf } from './page.ts';
import { checkParamHeaders } from './param-headers.ts';
import { mergeListings, type Route, type View } from './view.ts';

type Many = Extract<AggregationPlan, { kind: 'many' }>;

/** A group without servers, or one whose plan says nothing. */
const DEFAULT_PLAN: Many = {
  kind: 'many',
  conflicts: { kind: 'prefix', format: '{workload}_' },
  tools: new Map(),
  offerOthers: true,
  offerNone: false,
};

export interface ManyParts {
  readonly version: string;
  readonly log: Log;
  /** Names of the backends that see a credential of the user. */
  readonly personal: ReadonlySet<string>;
}

const LISTS: Readonly<Record<string, { readonly kind: ListKind; readonly field: string; readonly key: string }>> = {
  'tools/list': { kind: 'tools', field: 'tools', key: 'name' },
  'prompts/list': { kind: 'prompts', field: 'prompts', key: 'name' },
  'resources/list': { kind: 'resources', field: 'resources', key: 'uri' },
  'resources/templates/list': { kind: 'templates', field: 'resourceTemplates', key: 'uriTemplate' },
};

/** Many backends as one server: their lists merged, each call sent to the one that owns what it names. */
export function createMany(
  name: string,
  backends: readonly Backend[],
  plan: Many = DEFAULT_PLAN,
  forward: Forward,
  parts: ManyParts,
): Members {
  const connectTools = createConnectTools(backends, parts.personal, plan);
  let view: View | undefined;
  // Counted from the start: a server that hangs delays the first lists once, and nobody's after that.
  const enough = delay();

  function current(): View {
    if (view) return view;
    view = mergeListings(backends, plan);
    for (const remark of view.remarks) parts.log.warn('names overlap', { server: name, remark });
    return view;
  }

  /** The servers of somebody who calls for the first time here are still being asked what they offer. */
  async function found<T>(look: (view: View) => T | undefined): Promise<T | undefined> {
    const known = look(current());
    if (known !== undefined) return known;
    await untilListed(backends, enough);
    return look(current());
  }

  async function ownerOf(uri: string): Promise<Backend> {
    const owner = await found(
      ({ resources, templates }) => resources.get(uri) ?? templates.find(({ matches }) => matches(uri))?.backend,
    );
    if (owner) return owner;
    // A server may read URIs it never listed. With one candidate there is nothing to guess.
    const [candidate, ...others] = backends.filter((backend) => isObject(backend.hello()?.capabilities.resources));
    if (candidate && others.length === 0) return candidate;
    throw unknownResource(uri);
  }

  function list(call: Call, { kind, field, key }: { kind: ListKind; field: string; key: string }): Answer {
    const view = current();
    const items = view.listing[kind];
    const own = kind === 'tools' && call.client.era === 'modern' ? items.map(withoutExecution) : items;
    const connecting = kind === 'tools' ? connectTools.listed() : [];
    const shown = [...own, ...connecting.filter(({ name }) => !view.tools.has(String(name)))];
    return {
      result: {
        ...pageOf(shown, field, key, call.params.cursor),
        _meta: { 'dev.sallyport/backends': outcomes(backends) },
      },
    };
  }

  return {
    greeting: () => greetingOfAll(name, parts.version, backends),
    ownerOf,
    changed() {
      view = undefined;
    },
    async answer(call) {
      const { method, params } = call;
      const listed = Object.hasOwn(LISTS, method) ? LISTS[method] : undefined;
      if (listed) {
        await untilListed(backends, enough);
        return list(call, listed);
      }
      switch (method) {
        case 'tools/call': {
          if (typeof params.name !== 'string')
            throw new SallyError('call.invalid_params', 'tools/call needs the name of a tool');
          const { name } = params;
          const toConnect = connectTools.backendOf(name);
          const listed = current().tools.get(name) ?? (await found(({ tools }) => tools.get(name)));
          if (!listed && toConnect) return connected(toConnect, await forward(toConnect, call, 'tools/list', {}));
          const route = listed ?? (await onceListed(call, name));
          if (!route) throw new SallyError('call.unknown_tool', `Unknown tool: ${name}`);
          checkParamHeaders(call, route.headerParams);
          return await forward(route.backend, call, method, renamed(params, route.name));
        }
        case 'prompts/get': {
          if (typeof params.name !== 'string')
            throw new SallyError('call.invalid_params', 'prompts/get needs the name of a prompt');
          const { name } = params;
          const route = await found(({ prompts }) => prompts.get(name));
          if (!route) throw new SallyError('call.unknown_prompt', `Unknown prompt: ${name}`);
          return await forward(route.backend, call, method, renamed(params, route.name));
        }
        case 'resources/read': {
          if (typeof params.uri !== 'string') throw new SallyError('call.invalid_params', 'resources/read needs a URI');
          return await forward(await ownerOf(params.uri), call, method, params);
        }
        case 'completion/complete':
          return await complete(call);
        case 'logging/setLevel':
          await setLevel(call);
          return { result: {} };
        default:
          throw new SallyError('call.unknown_method', `Method not found: ${method}`);
      }
    },
  };

  /** A client may know a tool from before, of a server that wants its user to log in again or is not there yet. */
  async function onceListed(call: Call, tool: string): Promise<Route | undefined> {
    const backend = connectTools.ownerOf(tool);
    if (!backend) return undefined;
    await forward(backend, call, 'tools/list', {});
    return current().tools.get(tool);
  }

  async function complete(call: Call): Promise<Answer> {
    const { ref } = call.params;
    if (isObject(ref) && ref.type === 'ref/prompt' && typeof ref.name === 'string') {
      const { name } = ref;
      const route = await found(({ prompts }) => prompts.get(name));
      if (!route) throw new SallyError('call.unknown_prompt', `Unknown prompt: ${name}`);
      return await completeWith(route.backend, call, { ...call.params, ref: { ...ref, name: route.name } });
    }
    if (isObject(ref) && ref.type === 'ref/resource' && typeof ref.uri === 'string') {
      const { uri } = ref;
      const listed = await found(({ templates }) => templates.find(({ template }) => template === uri));
      const backend = listed?.backend ?? (await ownerOf(uri));
      return await completeWith(backend, call, call.params);
    }
    throw new SallyError('call.invalid_params', 'completion/complete needs a reference to a prompt or a resource');
  }

  /** A server that completes nothing has nothing to propose; that is no error of the caller's. */
  async function completeWith(backend: Backend, call: Call, params: Params): Promise<Answer> {
    if (!isObject(backend.hello()?.capabilities.completions))
      return { result: { completion: { values: [], hasMore: false } } };
    return await forward(backend, call, 'completion/complete', params);
  }

  async function setLevel(call: Call): Promise<void> {
    const able = backends.filter((backend) => {
      const hello = backend.hello();
      return hello?.era === 'legacy' && isObject(hello.capabilities.logging);
    });
    await Promise.allSettled(able.map((backend) => backend.request(call, call.method, call.params)));
  }
}

/** A copy only where the name differs: unchanged parameters can be sent on as they were written. */
function renamed(params: Params, name: string): Params {
  return params.name === name ? params : { ...params, name };
}

/** `execution` speaks of tasks in a form that the stateless revision does not know. */
function withoutExecution(tool: Item): Item {
  if (!('execution' in tool)) return tool;
  const { execution, ...rest } = tool;
  return rest;
}

const FIRST_LISTS = 5_000;

function delay(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, FIRST_LISTS).unref());
}

/** Waits for lists that have never been there; from then on the last good ones are given at once. */
async function untilListed(backends: readonly Backend[], enough: Promise<void>): Promise<void> {
  const unlisted = backends.filter((backend) => !backend.listing());
  const missing = unlisted.filter((backend) => backend.state().kind === 'connecting');
  if (missing.length > 0) await Promise.race([Promise.all(missing.map((backend) => backend.settled())), enough]);
  const without = unlisted.filter(needsLogin);
  if (without.length > 0) await Promise.race([Promise.all(without.map((backend) => backend.lookAgain())), delay()]);
}

/** How each backend contributed: a list that lacks somebody's entries says whose and why. */
function outcomes(backends: readonly Backend[]): Params {
  return Object.fromEntries(
    backends.map((backend) => {
      const state = backend.state();
      if (state.kind === 'ready') return [backend.name, { state: 'ok' }];
      if (state.kind === 'connecting') return [backend.name, { state: backend.listing() ? 'stale' : 'connecting' }];
      const since = new Date(state.since).toISOString();
      if (state.error.code === 'outgoing.login_needed') {
        return [backend.name, { state: 'needs_login', since, ...state.error.data }];
      }
      return [backend.name, { state: backend.listing() ? 'stale' : 'down', since }];
    }),
  );
}
