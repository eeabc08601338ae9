/** The part of the table of commands for what no other command does: the REST API, and the dashboard. */
import type { CommandSpec } from '../terminal/command.ts';
import { NETWORK_OPTIONS } from '../terminal/network-options.ts';

const SERVER = ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'] as const;

export const API_COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'api <method> [path]',
    summary: 'Send a request to the REST API with your login',
    examples: ['api /tunnels', 'api PATCH /projects/web --data @project.json', 'api /inspector --paginate'],
    options: [
      ['--data <json>', 'body: JSON, @FILE or @- (standard input); without a method, the request is a POST'],
      ['--include', 'print status and headers of the response first'],
      ['--paginate', 'follow the pages of a list, and print it as one'],
      SERVER,
      ...NETWORK_OPTIONS,
    ],
    load: async () => (await import('./api.ts')).api,
  },
  {
    usage: 'open [tunnel]',
    summary: 'Open the dashboard, or the page of a tunnel (subdomain or ID), in the browser',
    examples: ['open', 'open shop'],
    options: [
      ['--no-browser', 'print the URL without opening a browser'],
      SERVER,
      ...NETWORK_OPTIONS,
      ['--json', 'print one JSON object'],
    ],
    load: async () => (await import('./open.ts')).open,
  },
];
