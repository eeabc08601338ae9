/** The part of the table of commands about alert rules. */
import type { CommandSpec } from '../../terminal/command.ts';
import { NETWORK_OPTIONS } from '../../terminal/network-options.ts';
import { ALERT_KINDS } from './kinds.ts';

const BASE = [
  ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'],
  ...NETWORK_OPTIONS,
  ['--json', 'print the response as JSON'],
] as const;

export const ALERT_COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'alerts list',
    isDefault: true,
    summary: 'List alert rules, their state and channels',
    examples: ['alerts list'],
    options: BASE,
    load: async () => (await import('./alerts.ts')).alertsList,
  },
  {
    usage: 'alerts create <kind>',
    summary: `Create an alert rule: ${ALERT_KINDS.join(', ')}`,
    examples: [
      'alerts create tunnel_offline --email ops@example.com',
      'alerts create error_rate --tunnel shop --threshold 0.1 --for 10m --email ops@example.com',
    ],
    options: [
      ['--email <list>', 'addresses that get an email'],
      ['--webhook <url>', 'URL that gets a signed webhook'],
      ['--channel-file <file>', 'JSON file with more channels: Slack, Discord, ntfy, PagerDuty'],
      ['--for <time>', 'how long the problem must last (default: 5m, at most 24h)'],
      ['--threshold <n>', 'error_rate: share up to 1; latency_p95: milliseconds; budget: percent'],
      ['--tunnel <tunnel>', 'watch this tunnel only (subdomain or ID)'],
      ['--quiet-hours <from-to>', 'hold messages between these times of day: 22:00-07:00'],
      ['--time-zone <name>', 'time zone of the quiet hours (default: UTC)'],
      ...BASE,
    ],
    choices: { kind: ALERT_KINDS },
    load: async () => (await import('./create.ts')).alertsCreate,
  },
  {
    usage: 'alerts test <alert>',
    summary: 'Send a test to all channels of a rule (ID or kind)',
    examples: ['alerts test tunnel_offline'],
    options: BASE,
    load: async () => (await import('./alerts.ts')).alertsTest,
  },
  {
    usage: 'alerts resend <alert>',
    summary: 'Send the confirmation emails of an alert rule (ID or kind) again',
    examples: ['alerts resend tunnel_offline'],
    options: BASE,
    load: async () => (await import('./alerts.ts')).alertsResend,
  },
  {
    usage: 'alerts delete <alert>',
    summary: 'Delete an alert rule (ID or kind) with its history',
    examples: ['alerts delete tunnel_offline'],
    options: [['--yes', 'skip the confirmation; required without a terminal'], ...BASE],
    load: async () => (await import('./alerts.ts')).alertsDelete,
  },
];
