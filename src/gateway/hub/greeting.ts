import { isObject, type Params } from '../../mcp/index.ts';
import type { ServerHello } from '../call.ts';

/** What a virtual server says about itself: its own name, and only what it really does. */
export function ownGreeting(name: string, version: string): Params {
  return { capabilities: { tools: {} }, serverInfo: { name, title: `${name} (Sallyport)`, version } };
}

/** Capabilities that need messages from the server outside of an answer. They are not announced until they are carried. */
const UNSOLICITED = ['listChanged', 'subscribe'];
const CARRIED = ['tools', 'resources', 'prompts', 'completions'];

/** What a single server says about itself, less the capabilities that would promise more than passes through. */
export function sharedGreeting(hello: ServerHello, version: string): Params {
  const kept = CARRIED.filter((name) => name in hello.capabilities).map((name) => [
    name,
    withoutUnsolicited(hello.capabilities[name]),
  ]);
  return {
    capabilities: Object.fromEntries(kept),
    serverInfo: 'name' in hello.serverInfo ? hello.serverInfo : { name: 'sallyport', version },
    ...(hello.instructions === undefined ? {} : { instructions: hello.instructions }),
  };
}

function withoutUnsolicited(capability: unknown): Params {
  if (!isObject(capability)) return {};
  return Object.fromEntries(Object.entries(capability).filter(([name]) => !UNSOLICITED.includes(name)));
}
