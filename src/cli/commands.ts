/**
 * Every command, those that manage in manage-commands.ts and network-commands.ts. The help is printed from this table; each body is loaded only when it runs, so that the agent and
 * `--version` never load the server's database or HTTP stack.
 */
import type { CommandSpec } from './command.ts';
import { MANAGE_COMMANDS } from './manage-commands.ts';
import { NETWORK_COMMANDS } from './network-commands.ts';

const CONNECTION = [
  ['--server <url>', 'the Culvert server (CULVERT_SERVER)'],
  ['--token-file <file>', 'file that holds the key (CULVERT_TOKEN_FILE)'],
] as const;

const REPORT = [
  ['--json', 'one JSON object per event on standard output'],
  ['--url-file <path>', 'write the public URL to this file, remove it at exit'],
  ['--quiet', 'no screen and no log lines but errors'],
] as const;

const PAGE = [
  ['--inspect-port <port>', 'port on 127.0.0.1 of the page to look at requests (4040, or the next free one)'],
  ['--no-inspect', 'no such page, and nothing of what passes is kept, here or on the server'],
] as const;

const NAMING = [
  ['--subdomain <name>', 'public name; without it the server picks one'],
  ['--project <slug>', 'project that the name belongs to'],
] as const;

const VERIFY = ['--verify-tls', "check the local service's certificate"] as const;

const PROXY = ['--proxy-protocol', 'tell the local service who the visitor is, by a PROXY protocol v2 header'] as const;

const CONFIG = ['--config <file>', 'settings file (CULVERT_CONFIG)'] as const;

const LIST = [['--query <text>', 'only those with this in a name or address'], ['--json', 'as JSON'], CONFIG] as const;

export const COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'serve',
    summary: 'run the server',
    options: [
      CONFIG,
      ['--new-server', 'begin a new server where another one left files without its database; moves them aside'],
    ],
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    usage: 'http <target>',
    summary: 'publish a local HTTP service: 3000, host:3000 or a URL',
    options: [...NAMING, ...CONNECTION, ...REPORT, ...PAGE, VERIFY],
    refused: [PROXY[0]],
    load: async () => (await import('./tunnel.ts')).tunnelCommand('http'),
  },
  {
    usage: 'https <target>',
    summary: 'the same where the local service speaks TLS',
    options: [...NAMING, ...CONNECTION, ...REPORT, ...PAGE, VERIFY],
    refused: [PROXY[0]],
    load: async () => (await import('./tunnel.ts')).tunnelCommand('https'),
  },
  {
    usage: 'tcp <target>',
    summary: 'publish any local TCP port',
    options: [...NAMING, ...CONNECTION, ...REPORT, ...PAGE, PROXY],
    load: async () => (await import('./tunnel.ts')).tunnelCommand('tcp'),
  },
  {
    usage: 'udp <target>',
    summary: "carry a private network's datagrams to WireGuard: 51820 or host:51820",
    options: [
      ['--network <network>', 'name or id of the private network'],
      ['--no-udp', 'go by the TLS session alone, never by UDP to the server: slower when packets are lost'],
      ...CONNECTION,
      ['--json', REPORT[0][1]],
      ['--url-file <path>', 'write the address for clients to this file, remove it at exit'],
      REPORT[2],
      ['--inspect-port <port>', "port on 127.0.0.1 of the agent's page with /metrics; none when not given"],
    ],
    load: async () => (await import('./udp.ts')).udpCommand,
  },
  {
    usage: 'start [names...]',
    summary: "run the tunnels of the agent's settings file, or those named",
    options: [
      ['--config <file>', "the agent's settings file (CULVERT_AGENT_CONFIG)"],
      ...CONNECTION,
      ...REPORT,
      ...PAGE,
    ],
    load: async () => (await import('./tunnel.ts')).startCommand,
  },
  {
    usage: 'login',
    summary: 'let this command line in by the browser; it then needs no key file',
    options: [
      ['--server <url>', 'log in at this server (CULVERT_SERVER)'],
      ['--no-browser', 'only print the address, open nothing'],
      ['--json', 'one JSON object per event on standard output'],
    ],
    load: async () => (await import('./login.ts')).login,
  },
  {
    usage: 'logout',
    summary: 'end what `login` got, on the server and here',
    options: [
      ['--server <url>', 'log out at this server (CULVERT_SERVER)'],
      ['--json', 'one JSON object on standard output'],
    ],
    load: async () => (await import('./logout.ts')).logout,
  },
  {
    usage: 'status',
    summary: 'show the agents on this machine, the log-in, and whether the server answers',
    options: [
      ['--server <url>', 'ask this server (CULVERT_SERVER)'],
      ['--json', 'as JSON'],
    ],
    load: async () => (await import('./status.ts')).status,
  },
  ...MANAGE_COMMANDS,
  ...NETWORK_COMMANDS,
  {
    usage: 'config check [file]',
    summary: "check a server's settings file without starting",
    options: [CONFIG],
    load: async () => (await import('./config-check.ts')).configCheck,
  },
  {
    usage: 'backup <file>',
    summary: 'copy the database to a new file, beside a running server or without one',
    options: [CONFIG],
    load: async () => (await import('./backup.ts')).backup,
  },
  {
    usage: 'admin create-user <email>',
    summary: 'make an account with a random password, which is printed',
    options: [
      ['--superadmin', 'may do everything on this server'],
      ['--name <name>', 'what the person is called'],
      CONFIG,
    ],
    load: async () => (await import('./admin-users.ts')).createUser,
  },
  {
    usage: 'admin list-users',
    alias: 'list',
    summary: 'show the accounts',
    options: LIST,
    load: async () => (await import('./admin-users.ts')).listUsers,
  },
  {
    usage: 'admin reset-password <email>',
    summary: 'give an account a random password, which is printed, and log it out',
    options: [CONFIG],
    load: async () => (await import('./admin-users.ts')).resetPassword,
  },
  {
    usage: 'admin reset-mfa <email>',
    summary: 'forget the second factor of a person who lost it',
    options: [CONFIG],
    load: async () => (await import('./admin-users.ts')).resetMfa,
  },
  {
    usage: 'admin revoke-sessions <email>',
    summary: 'log a person out everywhere, command lines too; keys for machines go on working',
    options: [CONFIG],
    load: async () => (await import('./admin-users.ts')).revokeSessions,
  },
  {
    usage: 'admin lock-user <email>',
    summary: 'let a person in no more, and end their sessions and all keys that they made',
    options: [CONFIG],
    load: async () => (await import('./admin-users.ts')).lockUser,
  },
  {
    usage: 'admin unlock-user <email>',
    summary: 'let a person in again who was locked',
    options: [CONFIG],
    load: async () => (await import('./admin-users.ts')).unlockUser,
  },
  {
    usage: 'admin list-orgs',
    summary: 'show the organizations',
    options: [['--status <status>', 'only approved, pending or suspended ones'], ...LIST],
    load: async () => (await import('./admin-orgs.ts')).listOrgs,
  },
  {
    usage: 'admin set-plan <org> <plan>',
    summary: 'put an organization (slug or id) on free, pro, team or enterprise',
    options: [CONFIG],
    load: async () => (await import('./admin-orgs.ts')).setPlan,
  },
  {
    usage: 'admin approve <org>',
    summary: 'let an organization open tunnels and mint tokens',
    options: [CONFIG],
    load: async () => (await import('./admin-orgs.ts')).approve,
  },
  {
    usage: 'admin suspend <org>',
    summary: 'cut the agents of an organization off until it is approved again',
    options: [CONFIG],
    load: async () => (await import('./admin-orgs.ts')).suspend,
  },
  {
    usage: 'admin edge',
    summary: 'show how many connections of visitors came, were refused and were cut, and why',
    options: [['--json', 'as JSON'], CONFIG],
    load: async () => (await import('./admin-edge.ts')).showEdge,
  },
  {
    usage: 'admin metrics',
    summary: 'show the metrics of the server, as Prometheus reads them',
    options: [CONFIG],
    load: async () => (await import('./admin-metrics.ts')).showMetrics,
  },
  {
    usage: 'admin certificates [renew] [name]',
    summary: 'show the certificates by ACME; with "renew <name>", ask for one now',
    options: [['--json', 'as JSON'], CONFIG],
    load: async () => (await import('./admin-certificates.ts')).certificates,
  },
  {
    usage: 'admin rotate-keys [purpose]',
    summary: 'sign with new keys from now on: access, capability, or both',
    options: [CONFIG],
    load: async () => (await import('./admin-orgs.ts')).rotateKeys,
  },
  {
    usage: 'version',
    summary: 'print the version',
    options: [],
    load: async () => (await import('./version-command.ts')).version,
  },
];
