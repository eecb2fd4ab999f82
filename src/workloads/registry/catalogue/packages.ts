import type { RegistryEntry } from '../entry.ts';
import { ANYWHERE, hosts, OFFLINE, program, remote, secret, server, setting } from './entry.ts';

const REFERENCE_SERVERS = 'https://github.com/modelcontextprotocol/servers';
const REFERENCE = { repository: REFERENCE_SERVERS, tier: 'official' } as const;

/** Servers that are programs: npm for `npx://`, PyPI for `uvx://`. Some can be used elsewhere on the network instead. */
export const PACKAGES: readonly RegistryEntry[] = [
  server(
    'everything',
    'Shows every feature of MCP; for trying out clients',
    ['reference', 'testing'],
    [program('npx://@modelcontextprotocol/server-everything@2026.8.31', { permissions: OFFLINE })],
    REFERENCE,
  ),
  server(
    'memory',
    'Remembers facts as a graph of entities and relations, in a file',
    ['reference', 'knowledge'],
    [
      program('npx://@modelcontextprotocol/server-memory@2026.8.31', {
        env: [setting('MEMORY_FILE_PATH', 'the file in which the graph is kept')],
        permissions: OFFLINE,
      }),
    ],
    REFERENCE,
  ),
  server(
    'filesystem',
    'Reads, writes and searches files below the folders that you name',
    ['reference', 'files'],
    [
      program('npx://@modelcontextprotocol/server-filesystem@2026.8.31', {
        missingArgs: [{ name: 'folder', description: 'a folder that the server may use; several are allowed' }],
        permissions: OFFLINE,
      }),
    ],
    REFERENCE,
  ),
  server(
    'sequential-thinking',
    'Lets a model think in steps that it can revise',
    ['reference', 'reasoning'],
    [program('npx://@modelcontextprotocol/server-sequential-thinking@2026.8.31', { permissions: OFFLINE })],
    { ...REFERENCE, tools: ['sequentialthinking'] },
  ),
  server(
    'fetch',
    'Fetches web pages and turns them into Markdown',
    ['reference', 'web'],
    [program('uvx://mcp-server-fetch@2026.10.24', { permissions: ANYWHERE })],
    { ...REFERENCE, tools: ['fetch'] },
  ),
  server(
    'time',
    'Tells the time and converts it between time zones',
    ['reference'],
    [program('uvx://mcp-server-time@2026.10.19', { permissions: OFFLINE })],
    { ...REFERENCE, tools: ['get_current_time', 'convert_time'] },
  ),
  server(
    'git',
    'Reads and changes local Git repositories',
    ['reference', 'development', 'git'],
    [program('uvx://mcp-server-git@2026.10.19', { permissions: OFFLINE })],
    REFERENCE,
  ),
  server(
    'playwright',
    'Drives a web browser through its accessibility tree',
    ['browser', 'testing', 'web'],
    [program('npx://@playwright/mcp@0.0.83', { permissions: ANYWHERE })],
    { repository: 'https://github.com/microsoft/playwright-mcp', tier: 'official' },
  ),
  server(
    'chrome-devtools',
    'Inspects, debugs and measures pages in Chrome',
    ['browser', 'development', 'performance'],
    [program('npx://chrome-devtools-mcp@1.11.0', { permissions: ANYWHERE })],
    { repository: 'https://github.com/ChromeDevTools/chrome-devtools-mcp', tier: 'official' },
  ),
  server(
    'context7',
    'Current documentation and examples of programming libraries',
    ['development', 'documentation'],
    [
      program('npx://@upstash/context7-mcp@4.1.1', {
        env: [secret('CONTEXT7_API_KEY', 'API key of Context7, for higher limits', false)],
        permissions: hosts('context7.com', '.context7.com'),
      }),
      remote('https://mcp.context7.com/mcp', [
        secret('CONTEXT7_API_KEY', 'API key of Context7, for higher limits', false),
      ]),
    ],
    { repository: 'https://github.com/upstash/context7', tier: 'official' },
  ),
  server(
    'notion',
    'Reads and writes pages and databases of Notion',
    ['notes', 'productivity'],
    [
      program('npx://@notionhq/notion-mcp-server@2.5.2', {
        env: [secret('NOTION_TOKEN', 'secret of a Notion integration')],
        permissions: hosts('api.notion.com'),
      }),
    ],
    { repository: 'https://github.com/makenotion/notion-mcp-server', tier: 'official' },
  ),
  server(
    'sentry',
    'Issues, events and performance data of Sentry',
    ['monitoring', 'development'],
    [
      program('npx://@sentry/mcp-server@0.39.0', {
        env: [
          secret('SENTRY_ACCESS_TOKEN', 'user auth token of Sentry'),
          setting('SENTRY_HOST', 'host of a Sentry of your own'),
        ],
        permissions: hosts('sentry.io', '.sentry.io'),
      }),
    ],
    { repository: 'https://github.com/getsentry/sentry-mcp', tier: 'official' },
  ),
  server(
    'firecrawl',
    'Scrapes, crawls and searches the web through Firecrawl',
    ['web', 'search'],
    [
      program('npx://firecrawl-mcp@3.26.0', {
        env: [
          secret('FIRECRAWL_API_KEY', 'API key of Firecrawl'),
          setting('FIRECRAWL_API_URL', 'address of a Firecrawl of your own'),
        ],
        permissions: hosts('api.firecrawl.dev'),
      }),
    ],
    { tier: 'official' },
  ),
  server(
    'tavily',
    'Web search and extraction through Tavily',
    ['web', 'search'],
    [
      program('npx://tavily-mcp@0.2.22', {
        env: [secret('TAVILY_API_KEY', 'API key of Tavily')],
        permissions: hosts('api.tavily.com'),
      }),
    ],
    { repository: 'https://github.com/tavily-ai/tavily-mcp', tier: 'official' },
  ),
  server(
    'exa',
    'Web search made for models, through Exa',
    ['web', 'search'],
    [
      program('npx://exa-mcp-server@3.4.1', {
        env: [secret('EXA_API_KEY', 'API key of Exa')],
        permissions: hosts('api.exa.ai'),
      }),
    ],
    { repository: 'https://github.com/exa-labs/exa-mcp-server', tier: 'official' },
  ),
  server(
    'brave-search',
    'Web, news, image and local search through Brave',
    ['web', 'search'],
    [
      program('npx://@brave/brave-search-mcp-server@2.1.4', {
        env: [secret('BRAVE_API_KEY', 'API key of Brave Search')],
        permissions: hosts('api.search.brave.com'),
      }),
    ],
    { repository: 'https://github.com/brave/brave-search-mcp-server', tier: 'official' },
  ),
  server(
    'perplexity',
    'Web search and research answers through Perplexity',
    ['web', 'search'],
    [
      program('npx://@perplexity-ai/mcp-server@1.2.1', {
        env: [secret('PERPLEXITY_API_KEY', 'API key of Perplexity')],
        permissions: hosts('api.perplexity.ai'),
      }),
    ],
    { tier: 'official' },
  ),
  server(
    'supabase',
    'Projects, tables and functions of Supabase',
    ['database', 'cloud'],
    [
      program('npx://@supabase/mcp-server-supabase@0.13.0', {
        env: [secret('SUPABASE_ACCESS_TOKEN', 'personal access token of Supabase')],
        permissions: hosts('api.supabase.com'),
      }),
    ],
    { tier: 'official' },
  ),
  server(
    'mongodb',
    'Queries and manages MongoDB databases and Atlas clusters',
    ['database'],
    [
      program('npx://mongodb-mcp-server@3.0.4', {
        env: [secret('MDB_MCP_CONNECTION_STRING', 'connection string of the database', false)],
        permissions: ANYWHERE,
      }),
    ],
    { repository: 'https://github.com/mongodb-js/mongodb-mcp-server', tier: 'official' },
  ),
  server(
    'heroku',
    'Apps, add-ons and pipelines of Heroku',
    ['cloud'],
    [
      program('npx://@heroku/mcp-server@1.2.8', {
        env: [secret('HEROKU_API_KEY', 'API key of Heroku')],
        permissions: hosts('api.heroku.com'),
      }),
    ],
    { repository: 'https://github.com/heroku/heroku-mcp-server', tier: 'official' },
  ),
  server(
    'azure',
    'Services of Microsoft Azure, with the login of the Azure CLI',
    ['cloud'],
    [program('npx://@azure/mcp@2.0.5', { args: ['server', 'start'], permissions: ANYWHERE })],
    { tier: 'official' },
  ),
  server(
    'shopify-dev',
    'Documentation and API schemas for Shopify developers',
    ['commerce', 'documentation'],
    [program('npx://@shopify/dev-mcp@1.16.0', { permissions: hosts('shopify.dev') })],
    { tier: 'official' },
  ),
  server(
    'figma',
    'Layouts of Figma files for coding assistants (Framelink)',
    ['design', 'development'],
    [
      program('npx://figma-developer-mcp@0.13.2', {
        args: ['--stdio'],
        env: [secret('FIGMA_API_KEY', 'personal access token of Figma')],
        permissions: hosts('api.figma.com'),
      }),
    ],
    { repository: 'https://github.com/GLips/Figma-Context-MCP' },
  ),
  server(
    'airtable',
    'Reads and writes bases of Airtable',
    ['database', 'productivity'],
    [
      program('npx://airtable-mcp-server@1.14.0', {
        env: [secret('AIRTABLE_API_KEY', 'personal access token of Airtable')],
        permissions: hosts('api.airtable.com'),
      }),
    ],
    { repository: 'https://github.com/domdomegg/airtable-mcp-server' },
  ),
  server(
    'eslint',
    'Lints files with the ESLint of your project',
    ['development'],
    [program('npx://@eslint/mcp@0.3.13', { permissions: OFFLINE })],
    { tier: 'official' },
  ),
  server(
    'kubernetes',
    'Reads and changes clusters that your kubeconfig reaches',
    ['cloud', 'kubernetes'],
    [program('npx://kubernetes-mcp-server@0.0.67', { permissions: ANYWHERE })],
    { repository: 'https://github.com/containers/kubernetes-mcp-server' },
  ),
  server(
    'apify',
    'Runs scrapers and other actors of Apify',
    ['web', 'automation'],
    [
      program('npx://@apify/actors-mcp-server@0.16.0', {
        env: [secret('APIFY_TOKEN', 'API token of Apify')],
        permissions: hosts('api.apify.com'),
      }),
    ],
    { tier: 'official' },
  ),
  server(
    'hubspot',
    'Contacts, deals and other objects of HubSpot',
    ['crm'],
    [
      program('npx://@hubspot/mcp-server@0.4.0', {
        env: [secret('PRIVATE_APP_ACCESS_TOKEN', 'access token of a private app')],
        permissions: hosts('api.hubapi.com'),
      }),
    ],
    { tier: 'official' },
  ),
  server(
    'aws-documentation',
    'Searches and reads the documentation of AWS',
    ['cloud', 'documentation'],
    [
      program('uvx://awslabs.aws-documentation-mcp-server@1.2.3', {
        permissions: hosts('docs.aws.amazon.com', '.docs.aws.com'),
      }),
    ],
    { repository: 'https://github.com/awslabs/mcp', tier: 'official' },
  ),
  server(
    'atlassian',
    'Jira and Confluence, in the cloud or your own',
    ['productivity', 'issues'],
    [
      program('uvx://mcp-atlassian@0.23.1', {
        env: [
          setting('JIRA_URL', 'address of Jira'),
          setting('JIRA_USERNAME', 'your e-mail address at Jira'),
          secret('JIRA_API_TOKEN', 'API token for Jira', false),
          setting('CONFLUENCE_URL', 'address of Confluence'),
          setting('CONFLUENCE_USERNAME', 'your e-mail address at Confluence'),
          secret('CONFLUENCE_API_TOKEN', 'API token for Confluence', false),
        ],
        permissions: ANYWHERE,
      }),
    ],
    { repository: 'https://github.com/sooperset/mcp-atlassian' },
  ),
  server(
    'duckduckgo',
    'Web search through DuckDuckGo, without a key',
    ['web', 'search'],
    [program('uvx://duckduckgo-mcp-server@0.7.0', { permissions: ANYWHERE })],
  ),
  server(
    'qdrant',
    'Stores and finds memories in the vector database Qdrant',
    ['database', 'knowledge'],
    [
      program('uvx://mcp-server-qdrant@0.8.1', {
        env: [
          setting('QDRANT_URL', 'address of Qdrant'),
          secret('QDRANT_API_KEY', 'API key of Qdrant', false),
          setting('COLLECTION_NAME', 'the collection to use'),
        ],
        permissions: ANYWHERE,
      }),
    ],
    { repository: 'https://github.com/qdrant/mcp-server-qdrant', tier: 'official' },
  ),
  server(
    'neo4j-cypher',
    'Reads and writes a Neo4j graph with Cypher',
    ['database', 'knowledge'],
    [
      program('uvx://mcp-neo4j-cypher@0.6.0', {
        env: [
          setting('NEO4J_URI', 'address of Neo4j'),
          setting('NEO4J_USERNAME', 'user of Neo4j'),
          secret('NEO4J_PASSWORD', 'password of Neo4j', false),
          setting('NEO4J_DATABASE', 'the database to use'),
        ],
        permissions: ANYWHERE,
      }),
    ],
    { repository: 'https://github.com/neo4j-contrib/mcp-neo4j' },
  ),
  server(
    'arxiv',
    'Searches and reads papers on arXiv',
    ['research'],
    [program('uvx://arxiv-mcp-server@0.8.2', { permissions: hosts('arxiv.org', '.arxiv.org') })],
  ),
];
