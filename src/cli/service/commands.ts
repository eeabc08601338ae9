/** The part of the table of commands that makes an agent a service. */
import type { CommandSpec } from '../terminal/command.ts';

const WHICH = [
  ['--user', 'a service of the current user (default, except for root)'],
  ['--system', 'a service of the machine, which starts at boot (default for root)'],
  ['--name <name>', 'if there are several: culvert-agent-NAME (default: culvert-agent)'],
] as const;

export const SERVICE_COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'service install',
    summary: 'Install an agent as a service, and start it',
    examples: ['service install', 'service install --config web.toml --name web'],
    options: [
      ...WHICH,
      ['--config <file>', "the agent's settings file (default: ./culvert.toml, else ~/.config/culvert/agent.toml)"],
    ],
    load: async () => (await import('./service.ts')).serviceInstall,
  },
  {
    usage: 'service status',
    summary: 'Show if the service runs, and where its log is',
    examples: ['service status', 'service status --name web --json'],
    options: [...WHICH, ['--json', 'as JSON']],
    load: async () => (await import('./service.ts')).serviceStatus,
  },
  {
    usage: 'service uninstall',
    summary: 'Stop the service, and remove what install wrote',
    examples: ['service uninstall'],
    options: WHICH,
    load: async () => (await import('./service.ts')).serviceUninstall,
  },
];
