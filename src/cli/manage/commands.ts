/** The part of the table of commands that manages tokens, projects and tunnels, and looks at requests, by the REST API. The rest is in commands.ts. */
import { ACCESS_COMMANDS } from '../access/commands.ts';
import { ALERT_COMMANDS } from '../organization/alerts/commands.ts';
import { ORGANIZATION_COMMANDS } from '../organization/commands.ts';
import type { CommandSpec } from '../terminal/command.ts';
import { NETWORK_OPTIONS } from '../terminal/network-options.ts';
import { WEBHOOK_COMMANDS } from '../webhooks/commands.ts';

const SERVER = ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'] as const;
const BASE = [SERVER, ...NETWORK_OPTIONS, ['--json', 'print the response as JSON']] as const;
const YES = ['--yes', 'skip the confirmation; required without a terminal'] as const;
const MASTER_KEY = ['--token-file <file>', 'file with a master key (CULVERT_TOKEN_FILE), for --project'] as const;
const KEY = [
  ['--output-env', 'print CULVERT_SERVER=… and CULVERT_TOKEN=… only'],
  ['--save-file <path>', 'write the key to this file (mode 0600) instead of printing it'],
] as const;

export const MANAGE_COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'tokens list',
    isDefault: true,
    summary: 'List access keys',
    examples: ['tokens list --all'],
    options: [['--all', 'include revoked and expired keys'], ...BASE],
    load: async () => (await import('./tokens.ts')).tokensList,
  },
  {
    usage: 'tokens mint <name>',
    summary: 'Create an access key and print it once',
    examples: ['tokens mint laptop --save-file key', 'tokens mint ci --project web --ttl-hours 2 --output-env'],
    options: [
      ['--ttl-hours <n>', 'lifetime (default: 24, at most 2160)'],
      ['--subdomains <list>', 'allowed names: a,b-* (default: all)'],
      ['--quota <n>', 'tunnels at the same time (default: 5)'],
      ['--mbps <n>', 'Mbit/s for all its tunnels (default: 100)'],
      ['--budget-cents <n>', 'monthly budget in US cents'],
      ['--project <slug>', 'for this project only'],
      ['--master', 'create a master key: opens no tunnels, creates project keys'],
      ['--ttl-days <n>', 'lifetime of a master key (default: 90, at most 365)'],
      ...KEY,
      ['--force', 'replace the file of --save-file'],
      MASTER_KEY,
      ...BASE,
    ],
    load: async () => (await import('./mint-token.ts')).tokensMint,
  },
  {
    usage: 'tokens rotate <token>',
    summary: 'Replace an access key (nonce or name) with a new one',
    examples: ['tokens rotate laptop --grace-hours 24'],
    options: [
      ['--grace-hours <n>', 'how long the old key keeps working (default: 0, at most 720)'],
      ...KEY,
      ['--project <slug>', 'only a key of this project; required with a master key'],
      MASTER_KEY,
      YES,
      ...BASE,
    ],
    load: async () => (await import('./mint-token.ts')).tokensRotate,
  },
  {
    usage: 'tokens revoke <token>',
    summary: 'Revoke an access key (nonce or name) and the keys that it created',
    examples: ['tokens revoke laptop'],
    options: [['--project <slug>', 'only a key of this project; required with a master key'], MASTER_KEY, YES, ...BASE],
    load: async () => (await import('./tokens.ts')).tokensRevoke,
  },
  {
    usage: 'tokens budget <token> <cents>',
    summary: 'Set the monthly budget of an access key: US cents, or none',
    examples: ['tokens budget laptop 500'],
    options: BASE,
    load: async () => (await import('./tokens.ts')).tokensBudget,
  },
  {
    usage: 'tokens limit <token>',
    summary: 'Change the limits of an access key (nonce or name)',
    examples: ['tokens limit ci --quota 2 --subdomains "pr-*"'],
    options: [
      ['--subdomains <list>', 'allowed names: a,b-*'],
      ['--quota <n>', 'tunnels at the same time'],
      ['--mbps <n>', 'Mbit/s for all its tunnels'],
      ['--name <name>', 'another name for the key'],
      ...BASE,
    ],
    load: async () => (await import('./token-limits.ts')).tokensLimit,
  },
  {
    usage: 'tokens show <token>',
    summary: 'Show an access key: limits, budget, last use and what it serves',
    examples: ['tokens show ci'],
    options: BASE,
    load: async () => (await import('./token-limits.ts')).tokensShow,
  },
  {
    usage: 'projects list',
    isDefault: true,
    summary: 'List projects',
    examples: ['projects list'],
    options: BASE,
    load: async () => (await import('./projects.ts')).projectsList,
  },
  {
    usage: 'projects create <slug>',
    summary: 'Create a project: a namespace for tunnels and keys',
    examples: ['projects create web --name "Web team"'],
    options: [['--name <name>', 'display name'], ...BASE],
    load: async () => (await import('./projects.ts')).projectsCreate,
  },
  {
    usage: 'projects rename <slug> <name>',
    summary: 'Rename a project; its slug does not change',
    examples: ['projects rename web "Web shop"'],
    options: BASE,
    load: async () => (await import('./projects.ts')).projectsRename,
  },
  {
    usage: 'projects delete <slug>',
    summary: 'Delete a project with its tunnels and keys',
    examples: ['projects delete web'],
    options: [YES, ...BASE],
    load: async () => (await import('./projects.ts')).projectsDelete,
  },
  {
    usage: 'tunnels list',
    isDefault: true,
    summary: 'List tunnels',
    examples: ['tunnels list'],
    options: BASE,
    load: async () => (await import('./tunnels.ts')).tunnelsList,
  },
  {
    usage: 'tunnels create <port>',
    summary: 'Create a tunnel before an agent serves it',
    examples: ['tunnels create 3000 --subdomain shop'],
    options: [
      ['--subdomain <name>', 'public name (default: random)'],
      ['--protocol <protocol>', 'http, https, websocket or tcp'],
      ['--ttl <seconds>', 'lifetime; the plan has a maximum'],
      ['--project <slug>', 'project of the name'],
      ...BASE,
    ],
    choices: { '--protocol': ['http', 'https', 'websocket', 'tcp'] },
    load: async () => (await import('./tunnels.ts')).tunnelsCreate,
  },
  {
    usage: 'tunnels start <tunnel>',
    summary: 'Start a stopped or expired tunnel (subdomain or ID)',
    examples: ['tunnels start shop'],
    options: BASE,
    load: async () => (await import('./tunnels.ts')).tunnelsStart,
  },
  {
    usage: 'tunnels stop <tunnel>',
    summary: 'Take a tunnel (subdomain or ID) offline until it is started',
    examples: ['tunnels stop shop'],
    options: BASE,
    load: async () => (await import('./tunnels.ts')).tunnelsStop,
  },
  {
    usage: 'tunnels latency [tunnel]',
    summary: 'Show latency and status classes of a tunnel, or of all',
    examples: ['tunnels latency shop --range 24h'],
    options: [['--range <range>', '1h, 24h, 7d or 30d (default: 1h)'], ...BASE],
    choices: { '--range': ['1h', '24h', '7d', '30d'] },
    load: async () => (await import('./latency.ts')).tunnelsLatency,
  },
  ...ACCESS_COMMANDS,
  {
    usage: 'tunnels delete <tunnel>',
    summary: 'Delete a tunnel (subdomain or ID)',
    examples: ['tunnels delete shop'],
    options: [YES, ...BASE],
    load: async () => (await import('./tunnels.ts')).tunnelsDelete,
  },
  ...ORGANIZATION_COMMANDS,
  {
    usage: 'inspect [id]',
    summary: 'Search recorded requests, or show one',
    examples: ['inspect --tunnel shop --status 5xx --since 2h', 'inspect --follow'],
    options: [
      ['--tunnel <tunnel>', 'requests of this tunnel (subdomain or ID)'],
      ['--method <method>', 'requests with this method'],
      ['--status <status>', 'responses with this status or class: 404, 5xx'],
      ['--path <text>', 'text in path or query'],
      ['--outcome <outcome>', 'forwarded, refused (by the edge) or failed (no complete response)'],
      ['--since <time>', 'from the last 15m, 2h or 7d, or since a time'],
      ['--limit <n>', 'number of requests (default: 100, at most 500)'],
      ['--follow', 'follow live traffic'],
      ['--curl', 'print a curl command for the request'],
      ['--har', 'print an HTTP archive (HAR)'],
      ['--secrets', 'with --curl or --har: include credentials and cookies'],
      ['--replay', 'send the request again through the tunnel'],
      ...BASE,
    ],
    choices: { '--outcome': ['forwarded', 'refused', 'failed'] },
    load: async () => (await import('../inspect/inspect.ts')).inspect,
  },
  ...WEBHOOK_COMMANDS,
  ...ALERT_COMMANDS,
];
