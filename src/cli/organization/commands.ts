/** The part of the table of commands for what an organization has: domains, reserved names, members, invitations, metrics keys. */
import type { CommandSpec } from '../terminal/command.ts';
import { NETWORK_OPTIONS } from '../terminal/network-options.ts';

const BASE = [
  ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'],
  ...NETWORK_OPTIONS,
  ['--json', 'print the response as JSON'],
] as const;
const YES = ['--yes', 'skip the confirmation; required without a terminal'] as const;
const ROLES = ['owner', 'admin', 'member', 'viewer'] as const;

const DOMAINS: readonly CommandSpec[] = [
  {
    usage: 'domains list',
    isDefault: true,
    summary: 'List custom domains, their tunnels and certificates',
    examples: ['domains list'],
    options: BASE,
    load: async () => (await import('./domains.ts')).domainsList,
  },
  {
    usage: 'domains add <domain>',
    summary: 'Add a custom domain, and print the DNS record that proves it is yours',
    examples: ['domains add shop.example.net'],
    options: BASE,
    load: async () => (await import('./domains.ts')).domainsAdd,
  },
  {
    usage: 'domains verify <domain>',
    summary: 'Look for the DNS record of a domain (name or ID)',
    examples: ['domains verify shop.example.net'],
    options: BASE,
    load: async () => (await import('./domains.ts')).domainsVerify,
  },
  {
    usage: 'domains bind <domain> <tunnel>',
    summary: 'Lead a verified domain to a tunnel (subdomain or ID)',
    examples: ['domains bind shop.example.net shop'],
    options: BASE,
    load: async () => (await import('./domains.ts')).domainsBind,
  },
  {
    usage: 'domains unbind <domain>',
    summary: 'Lead a domain to no tunnel',
    examples: ['domains unbind shop.example.net'],
    options: BASE,
    load: async () => (await import('./domains.ts')).domainsUnbind,
  },
  {
    usage: 'domains delete <domain>',
    summary: 'Delete a custom domain',
    examples: ['domains delete shop.example.net'],
    options: [YES, ...BASE],
    load: async () => (await import('./domains.ts')).domainsDelete,
  },
];

const RESERVATIONS: readonly CommandSpec[] = [
  {
    usage: 'reservations list',
    isDefault: true,
    summary: 'List reserved names',
    examples: ['reservations list'],
    options: BASE,
    load: async () => (await import('./reservations.ts')).reservationsList,
  },
  {
    usage: 'reservations create <name>',
    summary: 'Reserve a name for tunnels of your organization',
    examples: ['reservations create shop'],
    options: BASE,
    load: async () => (await import('./reservations.ts')).reservationsCreate,
  },
  {
    usage: 'reservations delete <name>',
    summary: 'Release a reserved name',
    examples: ['reservations delete shop'],
    options: [YES, ...BASE],
    load: async () => (await import('./reservations.ts')).reservationsDelete,
  },
];

const PEOPLE: readonly CommandSpec[] = [
  {
    usage: 'members list',
    isDefault: true,
    summary: 'List the members of your organization',
    examples: ['members list'],
    options: BASE,
    load: async () => (await import('./members.ts')).membersList,
  },
  {
    usage: 'members role <member> <role>',
    summary: 'Change the role of a member (email or ID): owner, admin, member or viewer',
    examples: ['members role bob@example.com admin'],
    options: BASE,
    choices: { role: ROLES },
    load: async () => (await import('./members.ts')).membersRole,
  },
  {
    usage: 'members remove <member>',
    summary: 'Remove a member (email or ID), and revoke their keys',
    examples: ['members remove bob@example.com'],
    options: [YES, ...BASE],
    load: async () => (await import('./members.ts')).membersRemove,
  },
  {
    usage: 'invitations list',
    isDefault: true,
    summary: 'List open invitations',
    examples: ['invitations list'],
    options: BASE,
    load: async () => (await import('./invitations.ts')).invitationsList,
  },
  {
    usage: 'invitations create <email>',
    summary: 'Invite a user to your organization',
    examples: ['invitations create bob@example.com --role viewer'],
    options: [['--role <role>', 'owner, admin, member or viewer (default: member)'], ...BASE],
    choices: { '--role': ROLES },
    load: async () => (await import('./invitations.ts')).invitationsCreate,
  },
  {
    usage: 'invitations resend <email>',
    summary: 'Send an invitation (email or ID) again, and print its link',
    examples: ['invitations resend bob@example.com'],
    options: BASE,
    load: async () => (await import('./invitations.ts')).invitationsResend,
  },
  {
    usage: 'invitations delete <email>',
    summary: 'Withdraw an invitation (email or ID)',
    examples: ['invitations delete bob@example.com'],
    options: [YES, ...BASE],
    load: async () => (await import('./invitations.ts')).invitationsDelete,
  },
];

const METRICS_KEYS: readonly CommandSpec[] = [
  {
    usage: 'metrics-keys list',
    isDefault: true,
    summary: 'List the keys with which Prometheus reads your metrics',
    examples: ['metrics-keys list'],
    options: BASE,
    load: async () => (await import('./metrics-keys.ts')).metricsKeysList,
  },
  {
    usage: 'metrics-keys create <name>',
    summary: 'Create a metrics key and print it once',
    examples: ['metrics-keys create prometheus --save-file metrics.key'],
    options: [
      ['--save-file <path>', 'write the key to this file (mode 0600) instead of printing it'],
      ['--force', 'replace that file'],
      ...BASE,
    ],
    load: async () => (await import('./metrics-keys.ts')).metricsKeysCreate,
  },
  {
    usage: 'metrics-keys delete <key>',
    summary: 'Delete a metrics key (name or ID)',
    examples: ['metrics-keys delete prometheus'],
    options: [YES, ...BASE],
    load: async () => (await import('./metrics-keys.ts')).metricsKeysDelete,
  },
];

export const ORGANIZATION_COMMANDS: readonly CommandSpec[] = [...DOMAINS, ...RESERVATIONS, ...PEOPLE, ...METRICS_KEYS];
