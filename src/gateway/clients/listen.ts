import { isObject, META, type Params } from '../../mcp/index.ts';
import type { ListKind } from '../call.ts';
import type { Hub } from './hub.ts';
import type { Answering } from './legacy.ts';
import type { LiveCall } from './live-call.ts';

/** Each kind of change: what a client asks for, the capability that promises it, what it is told, and which lists are meant. */
const CHANGES = [
  { wish: 'toolsListChanged', capability: 'tools', method: 'notifications/tools/list_changed', kinds: ['tools'] },
  {
    wish: 'promptsListChanged',
    capability: 'prompts',
    method: 'notifications/prompts/list_changed',
    kinds: ['prompts'],
  },
  {
    wish: 'resourcesListChanged',
    capability: 'resources',
    method: 'notifications/resources/list_changed',
    kinds: ['resources', 'templates'],
  },
] as const satisfies readonly { wish: string; capability: string; method: string; kinds: readonly ListKind[] }[];

/** `subscriptions/listen`: a stream that stays open and tells of what the client asked for, and nothing else. */
export async function listen(call: LiveCall, hub: Hub, outlet: Answering, serverInfo: Params): Promise<void> {
  const wishes = isObject(call.params.notifications) ? call.params.notifications : {};
  const { capabilities } = await hub.greeting();
  const changes = CHANGES.filter(
    ({ wish, capability }) => wishes[wish] === true && promises(capabilities, capability, 'listChanged'),
  );
  const uris = promises(capabilities, 'resources', 'subscribe') ? textsOf(wishes.resourceSubscriptions) : [];
  const heard = await subscribeAll(hub, uris);

  const tell = (method: string, params: Params): void => {
    const meta = { ...(isObject(params._meta) ? params._meta : {}), [META.subscriptionId]: call.id };
    outlet.event(JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta: meta } }));
  };
  const stop = hub.watch({
    changed(kinds) {
      for (const change of changes) if (change.kinds.some((kind) => kinds.has(kind))) tell(change.method, {});
    },
    updated(uri, params) {
      if (heard.includes(uri)) tell('notifications/resources/updated', { ...params, uri });
    },
    heard(key, method) {
      if (key === call.client.key && changes.some((change) => change.method === method)) tell(method, {});
    },
  });
  call.onCancel(() => {
    stop();
    for (const uri of heard) hub.unsubscribe(uri);
    if (!outlet.open) return;
    // We end it, not the client: a proper result tells it to come back if it likes.
    const meta = { [META.subscriptionId]: call.id, [META.serverInfo]: serverInfo };
    outlet.event(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: { resultType: 'complete', _meta: meta } }));
    outlet.end();
  });
  call.onCancel(hub.onClose(() => call.cancel('the servers behind the stream were replaced')));
  const notifications = {
    ...Object.fromEntries(changes.map(({ wish }) => [wish, true])),
    ...(heard.length > 0 ? { resourceSubscriptions: heard } : {}),
  };
  tell('notifications/subscriptions/acknowledged', { notifications });
}

async function subscribeAll(hub: Hub, uris: readonly string[]): Promise<readonly string[]> {
  const tried = await Promise.allSettled(uris.map((uri) => hub.subscribe(uri)));
  // Only what a server really watches is promised.
  return uris.filter((_uri, index) => tried[index]?.status === 'fulfilled');
}

function promises(capabilities: Params, name: string, detail: string): boolean {
  const capability = capabilities[name];
  return isObject(capability) && capability[detail] === true;
}

const MAX_SUBSCRIPTIONS = 1_000;

function textsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return [...new Set(value.filter((item): item is string => typeof item === 'string'))].slice(0, MAX_SUBSCRIPTIONS);
}
