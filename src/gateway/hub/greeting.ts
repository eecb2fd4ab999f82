import { isObject, type Params } from '../../mcp/index.ts';
import type { Backend, ServerHello } from '../call.ts';

export interface Greeting {
  readonly capabilities: Params;
  readonly serverInfo: Params;
  readonly instructions?: string;
}

/** What one server says about itself, less what does not pass through. */
export function greetingOf(hello: ServerHello, version: string): Greeting {
  return {
    capabilities: mergeCapabilities([hello]),
    serverInfo: 'name' in hello.serverInfo ? hello.serverInfo : { name: 'sallyport', version },
    ...(hello.instructions === undefined ? {} : { instructions: hello.instructions }),
  };
}

/** What many servers say together: what at least one of them can do, and each one's instructions under its name. */
export function greetingOfAll(name: string, version: string, backends: readonly Backend[]): Greeting {
  const hellos = backends.flatMap((backend) => {
    const hello = backend.hello();
    return hello ? [{ backend: backend.name, hello }] : [];
  });
  const instructions = hellos
    .filter(({ hello }) => hello.instructions !== undefined)
    .map(({ backend, hello }) => `## ${backend}\n\n${hello.instructions}`);
  return {
    capabilities: mergeCapabilities(hellos.map(({ hello }) => hello)),
    serverInfo: { name, title: `${name} (Sallyport)`, version },
    ...(instructions.length === 0 ? {} : { instructions: instructions.join('\n\n') }),
  };
}

/** Changes are told whether or not the servers tell them: a backend may join, leave or come back. */
function mergeCapabilities(hellos: readonly ServerHello[]): Params {
  const any = (name: string): boolean => hellos.some(({ capabilities }) => isObject(capabilities[name]));
  const subscribe = hellos.some(
    ({ capabilities }) => isObject(capabilities.resources) && capabilities.resources.subscribe === true,
  );
  return {
    ...(any('tools') ? { tools: { listChanged: true } } : {}),
    ...(any('resources') ? { resources: { listChanged: true, ...(subscribe ? { subscribe: true } : {}) } } : {}),
    ...(any('prompts') ? { prompts: { listChanged: true } } : {}),
    ...(any('completions') ? { completions: {} } : {}),
    ...(any('logging') ? { logging: {} } : {}),
  };
}
