/** The part of the table of commands that sets the access control of a tunnel. */
import type { CommandSpec } from '../terminal/command.ts';
import { NETWORK_OPTIONS } from '../terminal/network-options.ts';

const BASE = [
  ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'],
  ...NETWORK_OPTIONS,
  ['--json', 'print the response as JSON'],
] as const;
const YES = ['--yes', 'skip the confirmation; required without a terminal'] as const;
const OFF = '--off';

export const ACCESS_COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'tunnels policy <action> [tunnel] [file]',
    summary: 'Manage the traffic policy of a tunnel (subdomain or ID): show, set, test or remove',
    examples: ['tunnels policy shop', 'tunnels policy set shop policy.json', 'tunnels policy test shop policy.json'],
    options: [YES, ...BASE],
    load: async () => (await import('./tunnel-policy.ts')).tunnelsPolicy,
  },
  {
    usage: 'tunnels password <tunnel> [username]',
    summary: 'Require a password of the visitors of a tunnel (subdomain or ID)',
    examples: ['tunnels password shop preview', 'tunnels password shop --off'],
    options: [
      ['--password-file <file>', 'file with the password (default: CULVERT_PASSWORD, or a prompt)'],
      [OFF, 'remove the password'],
      ...BASE,
    ],
    load: async () => (await import('./guards.ts')).tunnelsPassword,
  },
  {
    usage: 'tunnels visitor-login <tunnel>',
    summary: 'Show or set the email addresses that may log in as visitors of a tunnel',
    examples: ['tunnels visitor-login shop --domains example.com', 'tunnels visitor-login shop --off'],
    options: [
      ['--domains <list>', 'all addresses of these domains: example.com,example.net'],
      ['--emails <list>', 'these addresses: ann@example.com'],
      [OFF, 'turn the visitor login off'],
      ...BASE,
    ],
    load: async () => (await import('./guards.ts')).tunnelsVisitorLogin,
  },
  {
    usage: 'tunnels maintenance <tunnel> [message]',
    summary: 'Show visitors of a tunnel a maintenance page',
    examples: ['tunnels maintenance shop "Back at six."', 'tunnels maintenance shop --off'],
    options: [[OFF, 'let visitors through again'], ...BASE],
    load: async () => (await import('./guards.ts')).tunnelsMaintenance,
  },
];
