/** The part of the table of commands that manages tokens, projects and tunnels, and looks at requests, by the REST API. The rest is in commands.ts. */
import type { CommandSpec } from './command.ts';

const SERVER = ['--server <url>', 'the Culvert server (CULVERT_SERVER)'] as const;
const BASE = [SERVER, ['--json', "the server's answer as JSON"]] as const;
const YES = ['--yes', 'do not ask; needed where there is no terminal to ask on'] as const;
const MASTER_KEY = ['--token-file <file>', 'file that holds a master key (CULVERT_TOKEN_FILE), for --project'] as const;
const KEY = [
  ['--output-env', 'print CULVERT_SERVER=… and CULVERT_TOKEN=… and nothing else on standard output'],
  ['--save-file <path>', 'write the key to this file (0600) and print it nowhere'],
] as const;

export const MANAGE_COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'tokens list',
    isDefault: true,
    summary: 'show the tokens of the organization',
    options: [['--all', 'also those that were revoked or have run out'], ...BASE],
    load: async () => (await import('./manage-tokens.ts')).tokensList,
  },
  {
    usage: 'tokens mint <name>',
    summary: 'make a key for a machine or an agent, and print it once',
    options: [
      ['--ttl-hours <n>', 'how long it is good: 24 when not given, at most 2160'],
      ['--subdomains <list>', 'names that it may take: a,b-*'],
      ['--quota <n>', 'tunnels at the same time: 5 when not given'],
      ['--mbps <n>', 'bandwidth of its tunnels together: 100 when not given'],
      ['--budget-cents <n>', 'what it may spend in a month, US cents'],
      ['--project <slug>', 'for this project alone'],
      ['--master', 'a master key: opens no tunnels, mints keys of projects'],
      ['--ttl-days <n>', 'how long a master key is good: 90 when not given, at most 365'],
      ...KEY,
      ['--force', 'replace the file of --save-file'],
      MASTER_KEY,
      ...BASE,
    ],
    load: async () => (await import('./mint-token.ts')).tokensMint,
  },
  {
    usage: 'tokens rotate <token>',
    summary: 'replace the key of a token (nonce or name) by a new one with the same rights',
    options: [
      ['--grace-hours <n>', 'the old key goes on for so long: 0 when not given, at most 720'],
      ...KEY,
      ['--project <slug>', 'only a key of this project; needed when a master key asks'],
      MASTER_KEY,
      YES,
      ...BASE,
    ],
    load: async () => (await import('./mint-token.ts')).tokensRotate,
  },
  {
    usage: 'tokens revoke <token>',
    summary: 'end a token (nonce or name) and what it minted; agents are cut off at once',
    options: [
      ['--project <slug>', 'only a key of this project; needed when a master key asks'],
      MASTER_KEY,
      YES,
      ...BASE,
    ],
    load: async () => (await import('./manage-tokens.ts')).tokensRevoke,
  },
  {
    usage: 'tokens budget <token> <cents>',
    summary: 'cap what a token (nonce or name) may spend in a month: US cents, or none',
    options: BASE,
    load: async () => (await import('./manage-tokens.ts')).tokensBudget,
  },
  {
    usage: 'projects list',
    isDefault: true,
    summary: 'show the projects of the organization',
    options: BASE,
    load: async () => (await import('./manage-projects.ts')).projectsList,
  },
  {
    usage: 'projects create <slug>',
    summary: 'make a project: a namespace for tunnels and keys',
    options: [['--name <name>', 'what people call it'], ...BASE],
    load: async () => (await import('./manage-projects.ts')).projectsCreate,
  },
  {
    usage: 'projects rename <slug> <name>',
    summary: 'call a project something else; its slug stays',
    options: BASE,
    load: async () => (await import('./manage-projects.ts')).projectsRename,
  },
  {
    usage: 'projects delete <slug>',
    summary: 'delete a project with its tunnels and keys',
    options: [YES, ...BASE],
    load: async () => (await import('./manage-projects.ts')).projectsDelete,
  },
  {
    usage: 'tunnels list',
    isDefault: true,
    summary: 'show the tunnels of the organization',
    options: BASE,
    load: async () => (await import('./manage-tunnels.ts')).tunnelsList,
  },
  {
    usage: 'tunnels create <port>',
    summary: 'reserve a name before an agent serves it',
    options: [
      ['--subdomain <name>', 'public name; without it the server picks one'],
      ['--protocol <protocol>', 'http, https, websocket or tcp'],
      ['--ttl <seconds>', 'how long it lives; the plan has a maximum'],
      ['--project <slug>', 'project that the name belongs to'],
      ...BASE,
    ],
    load: async () => (await import('./manage-tunnels.ts')).tunnelsCreate,
  },
  {
    usage: 'tunnels start <tunnel>',
    summary: 'let agents serve a tunnel (subdomain or id) again',
    options: BASE,
    load: async () => (await import('./manage-tunnels.ts')).tunnelsStart,
  },
  {
    usage: 'tunnels stop <tunnel>',
    summary: 'cut the agent of a tunnel (subdomain or id) off until it is started',
    options: BASE,
    load: async () => (await import('./manage-tunnels.ts')).tunnelsStop,
  },
  {
    usage: 'tunnels policy <tunnel>',
    summary: 'show the traffic policy of a tunnel (subdomain or id), and what tried actions would have refused',
    options: BASE,
    load: async () => (await import('./tunnel-policy.ts')).tunnelsPolicy,
  },
  {
    usage: 'tunnels delete <tunnel>',
    summary: 'delete a tunnel (subdomain or id)',
    options: [YES, ...BASE],
    load: async () => (await import('./manage-tunnels.ts')).tunnelsDelete,
  },
  {
    usage: 'inspect [id]',
    summary: 'show the requests that visitors made, or one of them with everything',
    options: [
      ['--tunnel <tunnel>', 'only those of a tunnel (subdomain or id)'],
      ['--method <method>', 'only those with this method'],
      ['--status <status>', 'only those that got this status, or a class of them: 404, 5xx'],
      ['--path <text>', 'only those with this in their path or query'],
      ['--outcome <outcome>', 'only those that were forwarded, refused (by the edge) or failed (no whole answer)'],
      ['--since <time>', 'only those since then: 15m, 2h, 7d or a time'],
      ['--limit <n>', 'how many: 100 when not given, at most 500'],
      ['--follow', 'show them as they come'],
      ['--curl', 'of one: a curl command that sends it again'],
      ['--har', 'as an HTTP archive, which browsers import'],
      ['--secrets', 'with --curl or --har: leave credentials and cookies as they are'],
      ['--replay', 'of one: send it again, through the tunnel'],
      ...BASE,
    ],
    load: async () => (await import('./inspect.ts')).inspect,
  },
  {
    usage: 'webhooks list',
    isDefault: true,
    summary: 'show the webhook receivers of the organization, and where each sends on to',
    options: BASE,
    load: async () => (await import('./webhooks.ts')).webhooksList,
  },
  {
    usage: 'webhooks events <receiver>',
    summary: 'show what was delivered to a receiver (name or id), and what became of it on its way to the tunnel',
    options: [
      ['--follow', 'also deliveries as they come, until you end it'],
      ['--after <event>', 'only those behind this one'],
      ['--limit <n>', 'no more than so many, the oldest first'],
      ...BASE,
    ],
    load: async () => (await import('./webhooks.ts')).webhooksEvents,
  },
  {
    usage: 'webhooks redeliver <receiver> <event>',
    summary: 'send a delivery to the tunnel once more, before those that wait',
    options: BASE,
    load: async () => (await import('./webhooks.ts')).webhooksRedeliver,
  },
  {
    usage: 'webhooks forward <receiver> [tunnel]',
    summary: 'send deliveries that come from now on to a tunnel (subdomain or id), in order',
    options: [['--path <path>', 'where on the service: / when not given'], ['--off', 'keep them, no more'], ...BASE],
    load: async () => (await import('./webhooks.ts')).webhooksForward,
  },
];
