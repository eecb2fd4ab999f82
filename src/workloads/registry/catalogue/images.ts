import type { RegistryEntry } from '../entry.ts';
import { ANYWHERE, hosts, image, remote, secret, server, setting } from './entry.ts';

/** Servers that their makers publish as container images. */
export const IMAGES: readonly RegistryEntry[] = [
  server(
    'github',
    'Repositories, issues, pull requests and actions of GitHub',
    ['development', 'git', 'issues'],
    [
      image('ghcr.io/github/github-mcp-server', {
        env: [
          secret('GITHUB_PERSONAL_ACCESS_TOKEN', 'personal access token of GitHub'),
          setting('GITHUB_HOST', 'address of a GitHub Enterprise server'),
          setting('GITHUB_TOOLSETS', 'comma-separated groups of tools to offer'),
        ],
        permissions: hosts('api.github.com', 'github.com', 'raw.githubusercontent.com'),
      }),
      remote('https://api.githubcopilot.com/mcp/', [
        {
          ...secret('Authorization', 'personal access token of GitHub; without one you log in', false),
          template: 'Bearer {}',
        },
      ]),
    ],
    { repository: 'https://github.com/github/github-mcp-server', tier: 'official' },
  ),
  server(
    'grafana',
    'Dashboards, data sources, alerts and incidents of Grafana',
    ['monitoring'],
    [
      image('grafana/mcp-grafana', {
        args: ['-t', 'stdio'],
        env: [
          setting('GRAFANA_URL', 'address of Grafana', true),
          secret('GRAFANA_SERVICE_ACCOUNT_TOKEN', 'token of a service account'),
        ],
        permissions: ANYWHERE,
      }),
    ],
    { repository: 'https://github.com/grafana/mcp-grafana', tier: 'official' },
  ),
  server(
    'terraform',
    'Providers, modules and policies of the Terraform Registry',
    ['cloud', 'infrastructure'],
    [
      image('hashicorp/terraform-mcp-server', {
        env: [secret('TFE_TOKEN', 'API token of HCP Terraform or Terraform Enterprise', false)],
        permissions: hosts('registry.terraform.io', 'app.terraform.io'),
      }),
    ],
    { repository: 'https://github.com/hashicorp/terraform-mcp-server', tier: 'official' },
  ),
];
