/** A line to copy for each common MCP client. Names and URLs are ours: letters, digits and dashes, nothing a shell would read. */
export function clientLines(name: string, url: string, type: 'http' | 'sse' = 'http'): string {
  const rows: readonly (readonly [string, string])[] = [
    ['Claude Code', `claude mcp add --transport ${type} ${name} ${url}`],
    ['Codex', `codex mcp add ${name} --url ${url}`],
    ['Gemini CLI', `gemini mcp add --transport ${type} ${name} ${url}`],
    ['VS Code', `code --add-mcp '${JSON.stringify({ name, type, url })}'`],
    ['Cursor, others', JSON.stringify({ mcpServers: { [name]: { url } } })],
    ['Try it out', `npx @modelcontextprotocol/inspector --cli ${url} --transport ${type} --method tools/list`],
  ];
  const width = Math.max(...rows.map(([client]) => client.length));
  return rows.map(([client, line]) => `  ${client.padEnd(width)}  ${line}\n`).join('');
}
