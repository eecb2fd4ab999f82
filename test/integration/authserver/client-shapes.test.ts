import { describe, expect, it } from 'vitest';
import { startAuthServer } from '../../support/auth-server.ts';

const CODE = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
const PUBLIC = { token_endpoint_auth_method: 'none' };

/** How the clients that people use register, what they ask for, and where they want to be sent back. */
const SHAPES = [
  {
    name: 'MCP Inspector, and clients on the TypeScript SDK',
    registration: {
      ...CODE,
      ...PUBLIC,
      redirect_uris: ['http://localhost:6274/oauth/callback'],
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      scope: '',
    },
    ask: { scope: 'openid offline_access', prompt: 'consent' },
  },
  {
    name: 'mcp-remote',
    registration: {
      ...CODE,
      ...PUBLIC,
      redirect_uris: ['http://localhost:3334/oauth/callback'],
      client_name: 'MCP CLI Proxy',
      client_uri: 'https://github.com/modelcontextprotocol/mcp-cli',
      software_id: '2e6dc280-f3c3-4e01-99a7-8181dbd1d23d',
      software_version: '0.1.29',
      scope: 'openid email profile',
    },
    ask: { scope: 'openid email profile' },
  },
  {
    name: 'VS Code',
    registration: {
      ...PUBLIC,
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      application_type: 'native',
    },
    ask: { scope: undefined, redirect_uri: 'http://127.0.0.1:51234/' },
  },
  {
    name: 'VS Code in the browser',
    registration: { ...CODE, ...PUBLIC, redirect_uris: ['https://vscode.dev/redirect', 'http://127.0.0.1:33418/'] },
    ask: { redirect_uri: 'https://vscode.dev/redirect' },
  },
  {
    name: 'Claude Code',
    registration: {
      ...CODE,
      ...PUBLIC,
      client_name: 'Claude Code (my-server)',
      redirect_uris: ['http://localhost:54545/callback'],
    },
    ask: { scope: undefined, redirect_uri: 'http://localhost:60001/callback' },
  },
  {
    name: 'Claude on the web',
    registration: {
      ...CODE,
      ...PUBLIC,
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
    },
    ask: { scope: 'openid profile' },
  },
  {
    name: 'Cursor',
    registration: {
      ...CODE,
      ...PUBLIC,
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
      ],
    },
    ask: {},
  },
  {
    name: 'a client that registers with the scopes of the resource and asks for offline_access on top',
    registration: { ...CODE, redirect_uris: ['http://127.0.0.1:8080/cb'], scope: 'tools', application_type: 'native' },
    ask: { scope: 'tools offline_access', prompt: 'consent' },
  },
];

describe('clients that people use', () => {
  it.each(SHAPES)('$name: registers, logs in and refreshes', async ({ registration, ask }) => {
    await using server = await startAuthServer();
    const client = await server.register(registration);
    const redirect = { ...client, ...('redirect_uri' in ask ? { redirect_uri: ask.redirect_uri as string } : {}) };
    const { status, json } = await server.tokens(redirect, { ...ask, resource: server.resource });
    expect([status, json.token_type]).toEqual([200, 'Bearer']);
    expect((await server.refresh(client, json.refresh_token, { resource: server.resource })).status).toBe(200);
  });
});
