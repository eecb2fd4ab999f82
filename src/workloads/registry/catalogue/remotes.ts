import type { RegistryEntry } from '../entry.ts';
import { remote, server } from './entry.ts';

const MAKER = { tier: 'official' } as const;

/** Servers that their makers run. Most ask for a login in the browser when they are first used. */
export const REMOTES: readonly RegistryEntry[] = [
  server(
    'deepwiki',
    'Answers questions about public GitHub repositories',
    ['development', 'documentation'],
    [remote('https://mcp.deepwiki.com/mcp')],
    MAKER,
  ),
  server(
    'microsoft-learn',
    'Searches and reads the documentation of Microsoft',
    ['documentation'],
    [remote('https://learn.microsoft.com/api/mcp')],
    MAKER,
  ),
  server(
    'cloudflare-docs',
    'Searches the documentation of Cloudflare',
    ['cloud', 'documentation'],
    [remote('https://docs.mcp.cloudflare.com/mcp')],
    MAKER,
  ),
  server(
    'huggingface',
    'Models, datasets, papers and spaces of Hugging Face',
    ['models', 'research'],
    [remote('https://huggingface.co/mcp')],
    MAKER,
  ),
  server(
    'linear',
    'Issues and projects of Linear',
    ['issues', 'productivity'],
    [remote('https://mcp.linear.app/mcp')],
    MAKER,
  ),
  server(
    'notion-cloud',
    'Notion with a login in the browser',
    ['notes', 'productivity'],
    [remote('https://mcp.notion.com/mcp')],
    MAKER,
  ),
  server(
    'sentry-cloud',
    'Sentry with a login in the browser',
    ['monitoring', 'development'],
    [remote('https://mcp.sentry.dev/mcp')],
    MAKER,
  ),
  server(
    'stripe',
    'Payments, customers and documentation of Stripe',
    ['payments'],
    [remote('https://mcp.stripe.com/')],
    MAKER,
  ),
  server(
    'vercel',
    'Projects and deployments of Vercel',
    ['cloud', 'development'],
    [remote('https://mcp.vercel.com/')],
    MAKER,
  ),
  server('neon', 'Postgres databases of Neon', ['database', 'cloud'], [remote('https://mcp.neon.tech/mcp')], MAKER),
  server(
    'supabase-cloud',
    'Supabase with a login in the browser',
    ['database', 'cloud'],
    [remote('https://mcp.supabase.com/mcp')],
    MAKER,
  ),
];
