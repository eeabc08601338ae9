/**
 * Every command, those that manage in manage/commands.ts and network/commands.ts. The help is printed from this table; each body is loaded only when it runs, so that the agent and
 * `--version` never load the server's database or HTTP stack.
 */
import { HTTP_ONLY_FLAGS, TCP_UPSTREAM_FLAGS, UPSTREAM_FLAGS } from './agent/upstream/upstream-flags.ts';
import { ROUTE_FLAG } from './agent/routes/route-flag.ts';
import type { CommandSpec } from './terminal/command.ts';
import { HTTP_NARROWING, REFUSED_NARROWING, TCP_NARROWING, TCP_ONLY } from './agent/narrowing/options.ts';
import { NETWORK_OPTIONS } from './terminal/network-options.ts';
import { API_COMMANDS } from './api/commands.ts';
import { MANAGE_COMMANDS } from './manage/commands.ts';
import { SERVICE_COMMANDS } from './service/commands.ts';
import { NETWORK_COMMANDS } from './network/commands.ts';
import { SAMPLE_NOTE } from './usage/sample-file.ts';

const CONNECTION = [
  ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'],
  ['--token-file <file>', 'file with the access key (CULVERT_TOKEN_FILE)'],
  ...NETWORK_OPTIONS,
] as const;

const REPORT = [
  ['--json', 'print one JSON object per event'],
  ['--url-file <path>', 'write the public URL to this file; remove it at exit'],
  ['--quiet', 'print errors only'],
] as const;

const PAGE = [
  ['--inspect-port <port>', 'port of the local inspector on 127.0.0.1 (default: 4040, or the next free port)'],
  ['--no-inspect', 'turn off the local inspector and the recording of requests'],
] as const;

const NAMING = [
  ['--subdomain <name>', 'public name (default: random)'],
  ['--project <slug>', 'project of the name'],
] as const;

const VERIFY = ['--verify-tls', 'verify the TLS certificate of your service'] as const;

const PROXY = ['--proxy-protocol', 'send the visitor address to your service with a PROXY protocol v2 header'] as const;

const CONFIG = ['--config <file>', 'settings file (CULVERT_CONFIG)'] as const;

const LIST = [['--query <text>', 'filter by text in name or email'], ['--json', 'as JSON'], CONFIG] as const;

export const COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'serve',
    summary: 'Run the server',
    examples: ['serve --config /etc/culvert/culvert.toml'],
    options: [
      CONFIG,
      [
        '--new-server',
        'start a new server if the database is missing, and move the other files in the data folder aside',
      ],
    ],
    load: async () => (await import('./server/serve.ts')).serve,
  },
  {
    usage: 'http <target>',
    summary: 'Publish an HTTP service: 3000, host:3000, a URL or unix:/path',
    examples: ['http 3000', 'http 3000 --subdomain shop', 'http 3000 --route /api=8080'],
    options: [...NAMING, ROUTE_FLAG, ...HTTP_NARROWING, ...CONNECTION, ...REPORT, ...PAGE, VERIFY, ...UPSTREAM_FLAGS],
    refused: [PROXY[0], TCP_ONLY],
    load: async () => (await import('./agent/tunnel.ts')).tunnelCommand('http'),
  },
  {
    usage: 'https <target>',
    summary: 'Publish a service that speaks TLS',
    examples: ['https 8443 --verify-tls'],
    options: [...NAMING, ROUTE_FLAG, ...HTTP_NARROWING, ...CONNECTION, ...REPORT, ...PAGE, VERIFY, ...UPSTREAM_FLAGS],
    refused: [PROXY[0], TCP_ONLY],
    load: async () => (await import('./agent/tunnel.ts')).tunnelCommand('https'),
  },
  {
    usage: 'tcp <target>',
    summary: 'Publish a TCP port',
    examples: ['tcp 22'],
    options: [...NAMING, ...TCP_NARROWING, ...CONNECTION, ...REPORT, ...PAGE, PROXY, ...TCP_UPSTREAM_FLAGS],
    refused: [...HTTP_ONLY_FLAGS, ...REFUSED_NARROWING],
    load: async () => (await import('./agent/tunnel.ts')).tunnelCommand('tcp'),
  },
  {
    usage: 'files <folder>',
    summary: 'Publish a folder as a website',
    examples: ['files ./dist --spa', 'files . --no-listing --subdomain docs'],
    options: [
      ['--spa', 'respond with index.html to a path without a file'],
      ['--no-listing', 'no pages that list a folder'],
      ...[...NAMING, ...HTTP_NARROWING, ...CONNECTION, ...REPORT, ...PAGE],
    ],
    load: async () => (await import('./agent/files.ts')).filesCommand,
  },
  {
    usage: 'udp <target>',
    summary: 'Serve a private network from a WireGuard port: 51820 or host:51820',
    examples: ['udp 51820 --network office'],
    options: [
      ['--network <network>', 'name or id of the private network'],
      [
        '--manage <interface>',
        'keep the peers of this WireGuard interface in step with the devices (Linux, CAP_NET_ADMIN)',
      ],
      ['--no-udp', 'use the TLS session only, never UDP'],
      ...CONNECTION,
      ['--json', REPORT[0][1]],
      ['--url-file <path>', 'write the address for devices to this file; remove it at exit'],
      REPORT[2],
      ['--inspect-port <port>', 'port on 127.0.0.1 for /metrics (default: off)'],
    ],
    load: async () => (await import('./agent/udp.ts')).udpCommand,
  },
  {
    usage: 'start [names...]',
    summary: "Run the tunnels in the agent's settings file, or only the named ones",
    examples: ['start', 'start web api --config culvert.toml'],
    notes: SAMPLE_NOTE,
    options: [
      ['--all', 'all tunnels, as without names'],
      ['--config <file>', "the agent's settings file (CULVERT_AGENT_CONFIG)"],
      ...CONNECTION,
      ...REPORT,
      ...PAGE,
    ],
    load: async () => (await import('./agent/tunnel.ts')).startCommand,
  },
  {
    usage: 'login [server]',
    summary: 'Log in through the browser',
    examples: ['login example.com', 'login https://culvert.example.com:8443'],
    options: [
      ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'],
      ...NETWORK_OPTIONS,
      ['--no-browser', 'print the link without opening a browser'],
      ['--json', 'print one JSON object per event'],
    ],
    load: async () => (await import('./login/login.ts')).login,
  },
  {
    usage: 'logout',
    summary: 'Log out, and revoke the key of this machine',
    examples: ['logout'],
    options: [
      ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'],
      ...NETWORK_OPTIONS,
      ['--json', 'print one JSON object'],
    ],
    load: async () => (await import('./login/logout.ts')).logout,
  },
  {
    usage: 'status',
    summary: 'Show agents on this machine, the login and the server',
    examples: ['status', 'status --org'],
    options: [
      ['--org', 'show what needs attention in your organization; exit code 1 if something is critical'],
      ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'],
      ...NETWORK_OPTIONS,
      ['--json', 'as JSON'],
    ],
    load: async () => (await import('./login/status.ts')).status,
  },
  ...MANAGE_COMMANDS,
  ...API_COMMANDS,
  ...NETWORK_COMMANDS,
  ...SERVICE_COMMANDS,
  {
    usage: 'config check [file]',
    summary: 'Check a settings file of a server or an agent',
    examples: ['config check /etc/culvert/culvert.toml', 'config check agent.toml'],
    options: [CONFIG, ['--migrate <folder>', 'also migrate the copy of a database in this folder']],
    load: async () => (await import('./server/config-check.ts')).configCheck,
  },
  {
    usage: 'setup [domain]',
    summary: 'Set up a server: check the machine, write its settings, start it',
    examples: ['setup example.com --email ann@example.com', 'setup --local'],
    options: [
      ['--email <address>', 'address of the owner, and for the certificate authority'],
      ['--behind-proxy', 'TLS ends at a proxy in front'],
      ['--dns-hook <file>', 'program that sets TXT records, for one wildcard certificate'],
      ['--acme-directory <url>', "ACME server (default: Let's Encrypt)"],
      ['--acme-ca-file <file>', 'root certificate of a private ACME server'],
      ['--all-platforms', 'keep the programs for all platforms for the download page, some 250 MB'],
      ['--dry-run', 'check and print; change nothing'],
      ['--yes', 'ask nothing: go on after a failed check, keep settings that differ'],
      ['--root <dir>', 'write below this folder and start nothing, for images'],
      ['--config <file>', 'settings file (default: /etc/culvert/culvert.toml)'],
      ['--local', 'run a server for this machine alone, in the foreground'],
    ],
    load: async () => (await import('./setup/setup.ts')).setup,
  },
  {
    usage: 'doctor',
    summary: 'Check a server or an agent, and say what to mend',
    examples: ['doctor', 'doctor --config /etc/culvert/culvert.toml --json'],
    options: [
      CONNECTION[0],
      ...NETWORK_OPTIONS,
      [
        '--config <file>',
        'settings file of the server or the agent (default: /etc/culvert/culvert.toml, if it exists)',
      ],
      ['--json', 'as JSON'],
    ],
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  {
    usage: 'backup <file>',
    summary: 'Save the server to one file: database, keys, certificates, settings',
    examples: ['backup /var/backups/shop.culvert --passphrase-file /etc/culvert/backup.pass'],
    options: [['--passphrase-file <file>', 'encrypt the backup; the first line is the passphrase'], CONFIG],
    load: async () => (await import('./server/backup.ts')).backup,
  },
  {
    usage: 'restore <file>',
    summary: 'Restore a server from a backup to a new data folder',
    examples: ['restore shop.culvert --data-dir /var/lib/culvert', 'restore shop.culvert --check'],
    options: [
      ['--data-dir <folder>', 'the new data folder; it must be empty'],
      ['--passphrase-file <file>', 'decrypt the backup; the first line is the passphrase'],
      ['--config <file>', 'write the settings of the backup to this new file'],
      ['--settings-out <folder>', 'write the settings and the files that they name to this new folder'],
      ['--check', 'restore to a temporary folder, report, and remove it'],
    ],
    load: async () => (await import('./server/restore.ts')).restore,
  },
  {
    usage: 'upgrade',
    summary: 'Replace this program with a newer release',
    examples: ['upgrade --check', 'upgrade --from /media/usb/culvert', 'upgrade --rollback'],
    options: [
      ['--check', 'report if there is a newer version (exit code 10), and change nothing'],
      ['--from <place>', 'URL or folder of the release (default: releases_url of the settings)'],
      ['--all-platforms', 'keep the programs for all platforms for the download page, some 250 MB'],
      ['--rollback', 'put back the program and, if needed, the database from before'],
      CONFIG,
    ],
    load: async () => (await import('./server/upgrade.ts')).upgradeCommand,
  },
  {
    usage: 'admin create-user <email>',
    summary: 'Create an account and print its random password',
    examples: ['admin create-user ann@example.com --superadmin'],
    options: [['--superadmin', 'make the user an operator of this server'], ['--name <name>', 'display name'], CONFIG],
    load: async () => (await import('./admin/users.ts')).createUser,
  },
  {
    usage: 'admin list-users',
    alias: 'list',
    summary: 'List accounts',
    examples: ['admin list-users --query example.com'],
    options: LIST,
    load: async () => (await import('./admin/users.ts')).listUsers,
  },
  {
    usage: 'admin reset-password <email>',
    summary: 'Print a new random password and end all sessions of the user',
    examples: ['admin reset-password ann@example.com'],
    options: [CONFIG],
    load: async () => (await import('./admin/users.ts')).resetPassword,
  },
  {
    usage: 'admin password-link <email>',
    summary: 'Print a one-time link with which the user sets a password',
    examples: ['admin password-link ann@example.com'],
    options: [CONFIG],
    load: async () => (await import('./admin/users.ts')).passwordLink,
  },
  {
    usage: 'admin reset-mfa <email>',
    summary: 'Turn off two-factor authentication for a user',
    examples: ['admin reset-mfa ann@example.com'],
    options: [CONFIG],
    load: async () => (await import('./admin/users.ts')).resetMfa,
  },
  {
    usage: 'admin revoke-sessions <email>',
    summary: 'End all sessions and login keys of a user',
    examples: ['admin revoke-sessions ann@example.com'],
    options: [CONFIG],
    load: async () => (await import('./admin/users.ts')).revokeSessions,
  },
  {
    usage: 'admin lock-user <email>',
    summary: 'Lock an account: end its sessions and revoke its keys',
    examples: ['admin lock-user ann@example.com'],
    options: [CONFIG],
    load: async () => (await import('./admin/users.ts')).lockUser,
  },
  {
    usage: 'admin unlock-user <email>',
    summary: 'Unlock an account',
    examples: ['admin unlock-user ann@example.com'],
    options: [CONFIG],
    load: async () => (await import('./admin/users.ts')).unlockUser,
  },
  {
    usage: 'admin list-orgs',
    summary: 'List organizations',
    examples: ['admin list-orgs --status pending'],
    options: [['--status <status>', 'filter: approved, pending or suspended'], ...LIST],
    choices: { '--status': ['approved', 'pending', 'suspended'] },
    load: async () => (await import('./admin/orgs.ts')).listOrgs,
  },
  {
    usage: 'admin set-plan <org> <plan>',
    summary: 'Set the plan of an organization: free, pro, team or enterprise',
    examples: ['admin set-plan acme team'],
    options: [CONFIG],
    choices: { plan: ['free', 'pro', 'team', 'enterprise'] },
    load: async () => (await import('./admin/orgs.ts')).setPlan,
  },
  {
    usage: 'admin approve <org>',
    summary: 'Approve an organization',
    examples: ['admin approve acme'],
    options: [CONFIG],
    load: async () => (await import('./admin/orgs.ts')).approve,
  },
  {
    usage: 'admin suspend <org>',
    summary: 'Suspend an organization and disconnect its agents',
    examples: ['admin suspend acme'],
    options: [CONFIG],
    load: async () => (await import('./admin/orgs.ts')).suspend,
  },
  {
    usage: 'admin edge',
    summary: 'Count visitor connections: accepted, refused and closed, by reason',
    examples: ['admin edge'],
    options: [['--json', 'as JSON'], CONFIG],
    load: async () => (await import('./admin/edge.ts')).showEdge,
  },
  {
    usage: 'admin metrics',
    summary: 'Print the Prometheus metrics of the server',
    examples: ['admin metrics'],
    options: [CONFIG],
    load: async () => (await import('./admin/metrics.ts')).showMetrics,
  },
  {
    usage: 'admin certificates [renew] [name]',
    summary: 'List ACME certificates; "renew <name>" requests one now',
    examples: ['admin certificates', 'admin certificates renew shop.example.com'],
    options: [['--json', 'as JSON'], CONFIG],
    choices: { renew: ['renew'] },
    load: async () => (await import('./admin/certificates.ts')).certificates,
  },
  {
    usage: 'admin releases [action]',
    summary: 'List the programs on the download page; "fetch" gets those of this version',
    examples: ['admin releases', 'admin releases fetch --all-platforms --from /media/usb/culvert'],
    options: [
      ['--all-platforms', 'fetch the programs for all platforms, some 250 MB (default: this platform)'],
      ['--from <place>', 'URL or folder of the release (default: releases_url of the settings)'],
      ['--json', 'as JSON'],
      CONFIG,
    ],
    load: async () => (await import('./admin/releases.ts')).releases,
  },
  {
    usage: 'admin rotate-keys [purpose]',
    summary: 'Create new signing keys: access, capability or both',
    examples: ['admin rotate-keys access'],
    options: [CONFIG],
    choices: { purpose: ['access', 'capability'] },
    load: async () => (await import('./admin/orgs.ts')).rotateKeys,
  },
  {
    usage: 'completion <shell>',
    summary: 'Print a completion script: bash, zsh, fish or powershell',
    examples: ['completion bash'],
    options: [],
    choices: { shell: ['bash', 'zsh', 'fish', 'powershell'] },
    load: async () => (await import('./completion/completion.ts')).completionOf(COMMANDS),
  },
  {
    usage: 'version',
    summary: 'Print the version',
    examples: ['version'],
    options: [],
    load: async () => (await import('./server/version-command.ts')).version,
  },
];
