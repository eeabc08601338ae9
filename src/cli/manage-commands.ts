/** The part of the table of commands that manages tokens, projects and tunnels, and looks at requests, by the REST API. The rest is in commands.ts. */
import type { CommandSpec } from './command.ts';

const SERVER = ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'] as const;
const BASE = [SERVER, ['--json', 'print the response as JSON']] as const;
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
    options: [['--all', 'include revoked and expired keys'], ...BASE],
    load: async () => (await import('./manage-tokens.ts')).tokensList,
  },
  {
    usage: 'tokens mint <name>',
    summary: 'Create an access key and print it once',
    options: [
      ['--ttl-hours <n>', 'lifetime (default: 24, at most 2160)'],
      ['--subdomains <list>', 'allowed names: a,b-* (default: all)'],
      ['--quota <n>', 'tunnels at the same time (default: 5)'],
      ['--mbps <n>', 'bandwidth of all its tunnels (default: 100)'],
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
    options: [['--project <slug>', 'only a key of this project; required with a master key'], MASTER_KEY, YES, ...BASE],
    load: async () => (await import('./manage-tokens.ts')).tokensRevoke,
  },
  {
    usage: 'tokens budget <token> <cents>',
    summary: 'Set the monthly budget of an access key: US cents, or none',
    options: BASE,
    load: async () => (await import('./manage-tokens.ts')).tokensBudget,
  },
  {
    usage: 'projects list',
    isDefault: true,
    summary: 'List projects',
    options: BASE,
    load: async () => (await import('./manage-projects.ts')).projectsList,
  },
  {
    usage: 'projects create <slug>',
    summary: 'Create a project: a namespace for tunnels and keys',
    options: [['--name <name>', 'display name'], ...BASE],
    load: async () => (await import('./manage-projects.ts')).projectsCreate,
  },
  {
    usage: 'projects rename <slug> <name>',
    summary: 'Rename a project; its slug stays',
    options: BASE,
    load: async () => (await import('./manage-projects.ts')).projectsRename,
  },
  {
    usage: 'projects delete <slug>',
    summary: 'Delete a project with its tunnels and keys',
    options: [YES, ...BASE],
    load: async () => (await import('./manage-projects.ts')).projectsDelete,
  },
  {
    usage: 'tunnels list',
    isDefault: true,
    summary: 'List tunnels',
    options: BASE,
    load: async () => (await import('./manage-tunnels.ts')).tunnelsList,
  },
  {
    usage: 'tunnels create <port>',
    summary: 'Create a tunnel before an agent serves it',
    options: [
      ['--subdomain <name>', 'public name (default: random)'],
      ['--protocol <protocol>', 'http, https, websocket or tcp'],
      ['--ttl <seconds>', 'lifetime; the plan has a maximum'],
      ['--project <slug>', 'project of the name'],
      ...BASE,
    ],
    load: async () => (await import('./manage-tunnels.ts')).tunnelsCreate,
  },
  {
    usage: 'tunnels start <tunnel>',
    summary: 'Start a stopped or expired tunnel (subdomain or ID)',
    options: BASE,
    load: async () => (await import('./manage-tunnels.ts')).tunnelsStart,
  },
  {
    usage: 'tunnels stop <tunnel>',
    summary: 'Take a tunnel (subdomain or ID) offline until it is started',
    options: BASE,
    load: async () => (await import('./manage-tunnels.ts')).tunnelsStop,
  },
  {
    usage: 'tunnels policy <tunnel>',
    summary: 'Show the traffic policy of a tunnel (subdomain or ID) and its log-only counts',
    options: BASE,
    load: async () => (await import('./tunnel-policy.ts')).tunnelsPolicy,
  },
  {
    usage: 'tunnels delete <tunnel>',
    summary: 'Delete a tunnel (subdomain or ID)',
    options: [YES, ...BASE],
    load: async () => (await import('./manage-tunnels.ts')).tunnelsDelete,
  },
  {
    usage: 'inspect [id]',
    summary: 'Search recorded requests, or show one',
    options: [
      ['--tunnel <tunnel>', 'requests of this tunnel (subdomain or ID)'],
      ['--method <method>', 'requests with this method'],
      ['--status <status>', 'responses with this status or class: 404, 5xx'],
      ['--path <text>', 'text in path or query'],
      ['--outcome <outcome>', 'forwarded, refused (by the edge) or failed (no complete response)'],
      ['--since <time>', 'not older than 15m, 2h, 7d or a time'],
      ['--limit <n>', 'number of requests (default: 100, at most 500)'],
      ['--follow', 'follow live traffic'],
      ['--curl', 'print a curl command for the request'],
      ['--har', 'print an HTTP archive (HAR)'],
      ['--secrets', 'with --curl or --har: include credentials and cookies'],
      ['--replay', 'send the request again through the tunnel'],
      ...BASE,
    ],
    load: async () => (await import('./inspect.ts')).inspect,
  },
  {
    usage: 'webhooks list',
    isDefault: true,
    summary: 'List webhook receivers and their forwarding',
    options: BASE,
    load: async () => (await import('./webhooks.ts')).webhooksList,
  },
  {
    usage: 'webhooks events <receiver>',
    summary: 'List deliveries of a receiver (name or ID) and their state',
    options: [
      ['--follow', 'follow new deliveries'],
      ['--after <event>', 'deliveries after this one'],
      ['--limit <n>', 'number of deliveries, oldest first'],
      ...BASE,
    ],
    load: async () => (await import('./webhooks.ts')).webhooksEvents,
  },
  {
    usage: 'webhooks redeliver <receiver> <event>',
    summary: 'Send a delivery again, before the waiting ones',
    options: BASE,
    load: async () => (await import('./webhooks.ts')).webhooksRedeliver,
  },
  {
    usage: 'webhooks forward <receiver> [tunnel]',
    summary: 'Forward new deliveries to a tunnel (subdomain or ID), in order',
    options: [['--path <path>', 'path on your service (default: /)'], ['--off', 'store deliveries only'], ...BASE],
    load: async () => (await import('./webhooks.ts')).webhooksForward,
  },
];
