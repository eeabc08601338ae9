/** Words that only group commands, as `tokens` in `culvert tokens mint`. The commands are in ../commands.ts. */
import type { CommandSpec } from '../terminal/command.ts';

/** What the help says of a group. */
export const GROUPS: Readonly<Record<string, Pick<CommandSpec, 'summary' | 'examples'>>> = {
  admin: {
    summary: 'Manage accounts, organizations and certificates of this server',
    examples: ['admin create-user ann@example.com --superadmin', 'admin list-orgs --status pending'],
  },
  alerts: {
    summary: 'Create, list, test and delete alert rules',
    examples: ['alerts create tunnel_offline --email ops@example.com', 'alerts test tunnel_offline'],
  },
  config: { summary: 'Check a settings file', examples: ['config check /etc/culvert/culvert.toml'] },
  domains: {
    summary: 'Add, verify and bind custom domains',
    examples: ['domains add shop.example.net', 'domains bind shop.example.net shop'],
  },
  invitations: { summary: 'Invite users to your organization', examples: ['invitations create bob@example.com'] },
  members: { summary: 'List, change and remove members', examples: ['members role bob@example.com admin'] },
  'metrics-keys': {
    summary: 'Create, list and delete keys for Prometheus',
    examples: ['metrics-keys create prometheus --save-file metrics.key'],
  },
  network: {
    summary: 'Manage private networks and their devices',
    examples: ['network create office', 'network enroll office phone --qr'],
  },
  projects: { summary: 'Create, list, rename and delete projects', examples: ['projects create web'] },
  reservations: { summary: 'Reserve names for your organization', examples: ['reservations create shop'] },
  service: {
    summary: 'Run an agent as a service of this machine',
    examples: ['service install --config web.toml', 'service status'],
  },
  tokens: {
    summary: 'Create, list, rotate and revoke access keys',
    examples: ['tokens', 'tokens mint laptop --save-file key'],
  },
  tunnels: {
    summary: 'Create, list, start, stop and protect tunnels',
    examples: ['tunnels', 'tunnels create 3000 --subdomain shop'],
  },
  webhooks: { summary: 'Receive, forward and redeliver webhooks', examples: ['webhooks events stripe --follow'] },
};
