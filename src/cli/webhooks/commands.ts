/** The part of the table of commands about webhook receivers and their deliveries. */
import { WEBHOOK_KINDS } from '../../signatures/kinds.ts';
import type { CommandSpec } from '../terminal/command.ts';
import { NETWORK_OPTIONS } from '../terminal/network-options.ts';

const BASE = [
  ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'],
  ...NETWORK_OPTIONS,
  ['--json', 'print the response as JSON'],
] as const;
const SECRET = ['--secret-file <file>', 'file with the secret (default: CULVERT_WEBHOOK_SECRET, or a prompt)'] as const;

export const WEBHOOK_COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'webhooks list',
    isDefault: true,
    summary: 'List webhook receivers and their forwarding',
    examples: ['webhooks list'],
    options: BASE,
    load: async () => (await import('./webhooks.ts')).webhooksList,
  },
  {
    usage: 'webhooks events <receiver>',
    summary: 'List deliveries of a receiver (name or ID) and their state',
    examples: ['webhooks events stripe --follow'],
    options: [
      ['--follow', 'follow new deliveries'],
      ['--after <event>', 'deliveries after this one'],
      ['--limit <n>', 'number of deliveries, oldest first'],
      ['--state <state>', 'only deliveries in this state: waiting, delivered, failed, or none (not forwarded)'],
      ...BASE,
    ],
    choices: { '--state': ['none', 'waiting', 'delivered', 'failed'] },
    load: async () => (await import('./webhooks.ts')).webhooksEvents,
  },
  {
    usage: 'webhooks attempts <receiver> <event>',
    summary: 'List the attempts of a delivery with their responses',
    examples: ['webhooks attempts stripe 019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10'],
    options: BASE,
    load: async () => (await import('./attempts.ts')).webhooksAttempts,
  },
  {
    usage: 'webhooks test <receiver>',
    summary: 'Send a signed test event to a receiver (name or ID)',
    examples: ['webhooks test stripe --type invoice.paid'],
    options: [['--type <type>', "type of the event (default: the sender's usual one)"], ...BASE],
    load: async () => (await import('./attempts.ts')).webhooksTest,
  },
  {
    usage: 'webhooks redeliver <receiver> [event]',
    summary: 'Send a delivery again, or all of a time range',
    examples: [
      'webhooks redeliver stripe 019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10',
      'webhooks redeliver stripe --from 2026-11-21T02:00:00Z',
    ],
    options: [
      ['--from <time>', 'received at this time or later'],
      ['--to <time>', 'received until this time (default: now)'],
      ['--state <state>', 'failed, delivered or all (default: failed)'],
      ['--dry-run', 'only count them'],
      ...BASE,
    ],
    choices: { '--state': ['failed', 'delivered', 'all'] },
    load: async () => (await import('./attempts.ts')).webhooksRedeliver,
  },
  {
    usage: 'webhooks forward <receiver> [tunnel]',
    summary: 'Forward new deliveries to a tunnel (subdomain or ID), in order',
    examples: ['webhooks forward stripe shop --path /hooks'],
    options: [['--path <path>', 'path on your service (default: /)'], ['--off', 'store deliveries only'], ...BASE],
    load: async () => (await import('./webhooks.ts')).webhooksForward,
  },
  {
    usage: 'webhooks create <name>',
    summary: 'Create a URL that verifies and stores webhooks',
    examples: ['webhooks create orders --validator github --secret-file secret'],
    options: [['--validator <kind>', `how the sender signs: ${WEBHOOK_KINDS.join(', ')}`], SECRET, ...BASE],
    choices: { '--validator': WEBHOOK_KINDS },
    load: async () => (await import('./receivers.ts')).webhooksCreate,
  },
  {
    usage: 'webhooks secret <receiver>',
    summary: 'Replace the secret of a receiver (name or ID)',
    examples: ['webhooks secret orders --secret-file secret'],
    options: [SECRET, ...BASE],
    load: async () => (await import('./receivers.ts')).webhooksSecret,
  },
  {
    usage: 'webhooks delete <receiver>',
    summary: 'Delete a receiver (name or ID) with its deliveries',
    examples: ['webhooks delete orders'],
    options: [['--yes', 'skip the confirmation; required without a terminal'], ...BASE],
    load: async () => (await import('./receivers.ts')).webhooksDelete,
  },
];
