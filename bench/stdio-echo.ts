import { createInterface } from 'node:readline';
import { TOOL_RESULT } from './messages.ts';

/** A stdio server that answers at once, for proxies that take no other kind. */
const TOOL = { name: 'tool-000', inputSchema: { type: 'object' } };

function resultOf(method: string): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'stdio-echo', version: '1' },
      };
    case 'tools/list':
      return { tools: [TOOL] };
    case 'tools/call':
      return TOOL_RESULT;
    default:
      return {};
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as { id?: unknown; method?: string };
  if (id === undefined || method === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method) })}\n`);
});
