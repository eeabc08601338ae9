/** `culvert files DIR`, and folders as targets of the other tunnels: `file:///srv/www`. */
import { resolve } from 'node:path';
import { type FolderChoice, folderOfUrl, folderTarget } from '../../agent/files/folder-target.ts';
import type { ParsedTarget } from '../../agent/local/target.ts';
import type { TunnelSpec } from '../../agent/tunnel.ts';
import type { TunnelSettings } from '../../config/agent.ts';
import { agentFlags, settingsOf, subdomainFlag } from './agent-settings.ts';
import type { CommandBody } from '../terminal/command.ts';
import { usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { narrowingOfFlags } from './narrowing/narrowing.ts';
import { runAgent } from './run-agent.ts';
import { sentCommand } from './sent-command.ts';
import { UPSTREAM_KEYS, type UpstreamInput } from './upstream/upstream-input.ts';

const NO_TLS = 'a folder is published as http: its visitors come by https all the same';

export const filesCommand: CommandBody = async (io, invocation) => {
  const { args, flags } = invocation;
  const settings = settingsOf(io, invocation);
  const [text = ''] = args;
  // commander sets `listing` of its own accord when there is a --no-listing.
  const choice = { spa: flags['spa'] === true, listing: flags['listing'] !== false };
  const target = folderTarget(folderOfUrl(text, io.cwd) ?? resolve(io.cwd, text), choice);
  if ('why' in target) throw usageError(target.why);
  const tunnel: TunnelSpec = {
    target,
    protocol: 'http',
    name: 'files',
    subdomain: subdomainFlag(invocation),
    project: textFlag(flags, 'project'),
    narrow: await narrowingOfFlags(io, invocation, 'files'),
    command: sentCommand({ name: 'files', target: text }, invocation),
  };
  return runAgent(io, { settings, tunnels: [tunnel], relays: [], flags: agentFlags(invocation) });
};

/** The target of `culvert http file:///srv/www`; undefined: it is no folder. @throws what `mistake` makes */
export function folderOfArgument(input: UpstreamInput): ParsedTarget | undefined {
  const path = folderOfUrl(input.target, input.folder);
  return path === undefined ? undefined : folderAt(path, { spa: false, listing: true }, input);
}

/** The same of a settings file. @throws ConfigError */
export function folderOfSettings(settings: TunnelSettings, input: UpstreamInput): ParsedTarget | undefined {
  const { spa, listing, mistake } = settings;
  const path = folderOfUrl(input.target, input.folder);
  if (path !== undefined) settings.requireAllowed('target', path);
  if (path !== undefined) return folderAt(path, { spa: spa === true, listing: listing !== false }, input);
  for (const key of ['spa', 'listing'] as const) {
    if (settings[key] !== undefined) throw mistake(key, 'is for a target that is a folder, such as file:///srv/www');
  }
  return undefined;
}

/** @throws what `mistake` makes */
export function folderAt(
  path: string,
  choice: FolderChoice,
  { protocol, values, verifyTls, mistake }: UpstreamInput,
): ParsedTarget {
  if (protocol !== 'http') throw mistake('target', NO_TLS);
  const foreign = UPSTREAM_KEYS.find((key) => values[key] !== undefined);
  if (foreign !== undefined || verifyTls) throw mistake(foreign ?? 'target', 'a folder has no TLS and no connection');
  const target = folderTarget(path, choice);
  if ('why' in target) throw mistake('target', target.why);
  return { target, protocol };
}
