/** What is sent and answered, the same for every contender. */
export const REVISION = '2026-07-28';
export const LEGACY_REVISION = '2025-11-25';

/** An answer of about 300 bytes. */
export const TOOL_RESULT = {
  resultType: 'complete',
  content: [{ type: 'text', text: `The answer is forty-two, and here is why: ${'because it is so. '.repeat(10)}` }],
  isError: false,
};

const CAPABILITIES = { elicitation: { form: {} } };
const CLIENT_INFO = { name: 'bench', version: '1' };
const ARGUMENTS = { text: 'x'.repeat(180), count: 3, deep: { list: [1, 2, 3], flag: true } };
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
  'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
};

export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ALWAYS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** A request of the stateless revision: it carries its whole envelope, in the body and again in headers. */
export function modern(method: string, params: Readonly<Record<string, unknown>> = {}): Message {
  return {
    headers: {
      ...ALWAYS,
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(typeof params.name === 'string' ? { 'mcp-name': params.name } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
  };
}

export function modernCall(tool: string): Message {
  return modern('tools/call', { name: tool, arguments: ARGUMENTS });
}

/** A request inside a session of a stateful revision, or the one that opens it. */
export function legacy(
  session: string | undefined,
  method: string,
  params: Readonly<Record<string, unknown>>,
): Message {
  return {
    headers: {
      ...ALWAYS,
      ...(session === undefined ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': LEGACY_REVISION }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  };
}

export function legacyInitialize(): Message {
  return legacy(undefined, 'initialize', {
    protocolVersion: LEGACY_REVISION,
    capabilities: CAPABILITIES,
    clientInfo: CLIENT_INFO,
  });
}

export function legacyCall(session: string, tool: string): Message {
  return legacy(session, 'tools/call', { name: tool, arguments: ARGUMENTS });
}

export function toolName(index: number): string {
  return `tool-${String(index).padStart(3, '0')}`;
}

export function tools(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    name: toolName(index),
    description: 'Answers a question with a number and the reason for it.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' }, count: { type: 'integer' }, deep: { type: 'object' } },
      required: ['text'],
    },
  }));
}
