/** `culvert tunnels`: the names of the organization, whether an agent serves them or not. Serving one is `culvert http` and its like. */
import { z } from 'zod';
import { serverName } from '../../config/credentials.ts';
import type { CommandBody } from '../terminal/command.ts';
import { confirm } from '../terminal/confirm.ts';
import { EXIT, ExitError } from '../terminal/exit.ts';
import { countFlag, countOf, textFlag } from '../terminal/flags.ts';
import { print, writeLine } from '../terminal/io.ts';
import { type Asked, apiCommand, printDone, printRows } from '../client/api-command.ts';
import { harmless, jsonText, type Span, span } from '../terminal/paint.ts';

const tunnel = z.looseObject({
  id: z.string(),
  subdomain: z.string(),
  publicUrl: z.string(),
  status: z.string(),
  protocol: z.string(),
  localPort: z.int(),
  projectSlug: z.string(),
  online: z.boolean(),
  /** Older servers don't say it. */
  state: z.string().optional(),
  expiresAt: z.string().nullable(),
  totalRequests: z.int(),
  authEnabled: z.boolean(),
  edgeAuthEnabled: z.boolean(),
  policyEnabled: z.boolean(),
  agentFlagsEnabled: z.boolean().default(false),
  maintenance: z.boolean(),
});

export type TunnelItem = z.output<typeof tunnel>;

const GUARD_WORDS: Readonly<Record<string, string>> = {
  maintenance: 'maintenance mode',
  password: 'a password',
  'sign-in': 'a visitor login',
  'agent flags': 'flags of its agent',
};

export const tunnelsList = apiCommand(async (asked) => {
  await printRows(asked, await listTunnels(asked), {
    subdomain: (row) => row.subdomain,
    url: (row) => row.publicUrl,
    protocol: (row) => row.protocol,
    port: (row) => String(row.localPort),
    project: (row) => row.projectSlug,
    status: statusOf,
    guards: (row) => guardsOf(row).join(', ') || '-',
    'until (utc)': (row) => row.expiresAt?.slice(0, 16).replace('T', ' ') ?? '-',
    requests: (row) => String(row.totalRequests),
    id: (row) => row.id,
  });
});

/** Without `--json` prints the public URL alone, as an agent does. */
export const tunnelsCreate = apiCommand(async (asked) => {
  const { io, flags, args } = asked;
  const answer = await asked.call('POST', '/tunnels', {
    localPort: countOf(args[0] ?? '', 'the port'),
    subdomain: textFlag(flags, 'subdomain'),
    protocol: textFlag(flags, 'protocol'),
    ttlSeconds: countFlag(flags, 'ttl'),
    projectSlug: textFlag(flags, 'project'),
  });
  if (flags['json'] === true) return print(io.stdout, jsonText(answer));
  const made = tunnel.parse(answer);
  await print(io.stdout, harmless(made.publicUrl));
  const named = textFlag(flags, 'server') === undefined ? '' : ` --server ${serverName(asked.server)}`;
  const until = made.expiresAt === null ? '' : ` until ${made.expiresAt.slice(0, 16).replace('T', ' ')} UTC`;
  writeLine(io.stderr, harmless(`Reserved${until}. Serve it: ${serving(made, textFlag(flags, 'project'))}${named}`));
});

export const tunnelsStart = tunnelAction('start', 'started');
export const tunnelsStop = tunnelAction('stop', 'stopped: agents are disconnected until it is started');

export const tunnelsDelete = apiCommand(async (asked) => {
  const found = await findTunnel(asked);
  const agent = found.online ? ' Its agent is disconnected.' : '';
  await confirm(
    asked.io,
    asked.flags,
    `Delete ${found.publicUrl}?${agent} For 24 hours, only your organization can use the name.`,
  );
  const answer = await asked.call('DELETE', `/tunnels/${encodeURIComponent(found.id)}`);
  await printDone(asked, answer, `${found.subdomain}: deleted`);
});

function tunnelAction(name: 'start' | 'stop', sentence: string): CommandBody {
  return apiCommand(async (asked) => {
    const found = await findTunnel(asked);
    const answer = await asked.call('POST', `/tunnels/${encodeURIComponent(found.id)}/${name}`);
    await printDone(asked, answer, `${found.subdomain}: ${sentence}`);
  });
}

async function listTunnels(asked: Asked): Promise<TunnelItem[]> {
  return tunnel.array().parse(await asked.call('GET', '/tunnels'));
}

/** @throws ExitError (failure) when no tunnel has this name or id. */
export async function findTunnel(asked: Asked): Promise<TunnelItem> {
  const [handle = ''] = asked.args;
  const found = (await listTunnels(asked)).find(
    ({ id, subdomain }) => id === handle || subdomain === handle.toLowerCase(),
  );
  if (found !== undefined) return found;
  throw new ExitError(EXIT.failure, harmless(`there is no tunnel "${handle}". \`culvert tunnels list\` shows them`));
}

/** Subdomains by id. */
export async function tunnelNames(asked: Asked): Promise<ReadonlyMap<string, string>> {
  return new Map((await listTunnels(asked)).map(({ id, subdomain }) => [id, subdomain]));
}

function statusOf({ online, status, state, expiresAt }: TunnelItem): Span {
  if (online) return span('online', 'green');
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return span('expired', 'dim');
  if (state === 'offline') return span('offline', 'red');
  if (state !== undefined) return span(state.replaceAll('_', ' '), 'dim');
  return status === 'active' ? span('waiting for an agent', 'yellow') : span('offline', 'dim');
}

/** Access control of a tunnel, in the order of the edge. */
function guardsOf(row: TunnelItem): string[] {
  const on = {
    maintenance: row.maintenance,
    policy: row.policyEnabled,
    password: row.authEnabled,
    'sign-in': row.edgeAuthEnabled,
    'agent flags': row.agentFlagsEnabled,
  };
  return Object.entries(on).flatMap(([name, isOn]) => (isOn ? [name] : []));
}

/** Access control of a tunnel besides its policy, as a sentence; undefined without any. */
export function otherGuards(row: TunnelItem): string | undefined {
  const words = guardsOf(row).flatMap((name) => GUARD_WORDS[name] ?? []);
  return words.length === 0 ? undefined : `Also active on ${row.subdomain}: ${words.join(', ')}.`;
}

/** The command that serves a tunnel; in a project the agent adds the suffix itself. */
function serving({ protocol, localPort, subdomain }: TunnelItem, project: string | undefined): string {
  const command = protocol === 'websocket' ? 'http' : protocol;
  const suffix = `-${project ?? ''}`;
  const label = project !== undefined && subdomain.endsWith(suffix) ? subdomain.slice(0, -suffix.length) : subdomain;
  return `culvert ${command} ${localPort} --subdomain ${label}${project === undefined ? '' : ` --project ${project}`}`;
}
