/**
 * `culvert network`: the private networks of the organization. Their server and devices: server.ts, devices.ts. What carries a
 * network's datagrams is `culvert udp`.
 */
import { z } from 'zod';
import { amountOf } from '../terminal/amount.ts';
import { type Asked, apiCommand, printDone, printRows } from '../client/api-command.ts';
import { confirm } from '../terminal/confirm.ts';
import { usageError } from '../terminal/exit.ts';
import { refuseFlags, textFlag } from '../terminal/flags.ts';
import { firstHost, freeCidr, networksHere } from './free-cidr.ts';
import { hasColor, print, writeLine } from '../terminal/io.ts';
import {
  type Device,
  devicePath,
  expiryFlag,
  findDevice,
  findNetwork,
  handleOf,
  interfaceOf,
  listDevices,
  listNetworks,
  listOrNone,
  type Network,
  networkPath,
  readDevice,
  readNetwork,
  routeCommands,
  syncCommands,
  tellNext,
  termsOf,
} from './items.ts';
import { jsonText, type Line, paint, span } from '../terminal/paint.ts';

const relayState = z.looseObject({
  online: z.boolean(),
  path: z.string().nullish(),
  path_since: z.string().nullish(),
  flows: z.int().nullish(),
  bytes_in: z.int().default(0),
  bytes_out: z.int().default(0),
  dropped: z.record(z.string(), z.int()).nullish(),
});

export const networkList = apiCommand(async (asked) => {
  const rows = await listNetworks(asked);
  if (asked.flags['json'] !== true && rows.length === 0) {
    return writeLine(asked.io.stderr, 'There are no private networks. Create one: culvert network create NAME');
  }
  await printRows(asked, rows, {
    name: (row) => row.name,
    addresses: (row) => row.cidr,
    server: (row) => (row.server_public_key === null ? span('not set', 'yellow') : firstHost(row.cidr)),
    endpoint: (row) => row.public_endpoint ?? '-',
    id: (row) => row.id,
  });
});

export const networkCreate = apiCommand(async (asked) => {
  const { args, flags } = asked;
  const cidr = textFlag(flags, 'cidr') ?? (await chosenCidr(asked));
  const answer = await asked.call('POST', '/private-networks', { name: args[0], cidr });
  const made = readNetwork(answer);
  await printDone(asked, answer, `${made.name}: created with the address range ${made.cidr}`);
  tellNext(asked, 'Next, on the machine of its server', [makeServer(made)]);
});

export const networkShow = apiCommand(async (asked) => {
  const { io, flags } = asked;
  const found = await findNetwork(asked);
  const answer = await asked.call('GET', `${networkPath(found.id)}/relay`);
  if (flags['json'] === true) return print(io.stdout, jsonText({ ...found, relay: answer }));
  const devices = await listDevices(asked, found);
  const expired = devices.filter((one) => one.expired).length;
  const color = hasColor(io.stdout, io.env);
  const rows: ReadonlyArray<readonly [string, Line]> = [
    ['network', [span(`${found.name}, ${found.cidr}`)]],
    ['id', [span(found.id)]],
    ['server', serverLine(found)],
    ['endpoint', [span(endpointOf(found))]],
    ['relay', relayLine(found, relayState.parse(answer))],
    ...droppedRow(relayState.parse(answer)),
    ...unknownRow(found, devices, relayState.parse(answer)),
    ['devices', [span(`${devices.length}${expired === 0 ? '' : `, ${expired} expired`}`)]],
    ['dns', [span(found.dns.join(', ') || '-')]],
    ['also routed', [span(found.extra_allowed_ips.join(', ') || '-')]],
  ];
  const lines = rows.map(([name, line]) => paint([span(name.padEnd(13), 'bold'), ...line], color));
  await print(io.stdout, lines.join('\n'));
});

export const networkEdit = apiCommand(async (asked) => {
  const { args, flags } = asked;
  const isDevice = args[1] !== undefined;
  refuseFlags(flags, isDevice ? ['dns'] : ['expires'], `belongs to a ${isDevice ? 'network' : 'device'}`);
  const name = textFlag(flags, 'name');
  const dns = listOrNone(flags, 'dns');
  const extra = listOrNone(flags, 'extraAllowedIps');
  const expires = expiryFlag(flags);
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...(dns === undefined ? {} : { dns }),
    ...(extra === undefined ? {} : { extra_allowed_ips: extra }),
    ...(expires === undefined ? {} : { expires_at: expires }),
  };
  if (Object.keys(changes).length === 0) {
    throw usageError(`nothing to change. Use --name, --extra-allowed-ips${isDevice ? ', --expires' : ', --dns'}`);
  }
  const network = await findNetwork(asked);
  const device = isDevice ? await findDevice(asked, network) : undefined;
  const path = device === undefined ? networkPath(network.id) : devicePath(network.id, device.id);
  const answer = await asked.call('PATCH', path, changes);
  const now = device === undefined ? undefined : readDevice(answer);
  await printDone(asked, answer, now === undefined ? networkNow(readNetwork(answer)) : deviceNow(now));
  if (device !== undefined && extra !== undefined) {
    tellNext(asked, "Next, on the machine of the network's server", routeCommands(network));
  } else if (device?.expired === true && expires !== undefined) {
    // Its configurations leave out who has expired.
    tellNext(asked, "Next, on the machine of the network's server", syncCommands(network));
  } else if (dns !== undefined || extra !== undefined) {
    const which = `culvert network config ${handleOf(network)} DEVICE --key-file FILE`;
    tellNext(asked, 'Devices keep their configurations. To print a new one with the old key', [which]);
  }
});

export const networkDelete = apiCommand(async (asked) => {
  const found = await findNetwork(asked);
  const devices = await listDevices(asked, found);
  const lost = devices.length === 0 ? '' : ` and its devices (${devices.length})`;
  await confirm(
    asked.io,
    asked.flags,
    `Delete the network ${found.name} (${found.cidr})${lost}? Its relay stops immediately.`,
  );
  const answer = await asked.call('DELETE', networkPath(found.id));
  await printDone(asked, answer, `${found.name}: deleted`);
});

/** A /24 that neither another network of the organization nor this machine has. @throws ExitError (usage) */
async function chosenCidr(asked: Asked): Promise<string> {
  const taken = (await listNetworks(asked)).map(({ cidr }) => cidr);
  const cidr = freeCidr([...taken, ...networksHere()]);
  if (cidr === undefined)
    throw usageError('no free /24 in 10.0.0.0/8 and 100.64.0.0/10. Choose an address range with --cidr');
  return cidr;
}

/** What it has now: networks are written in one form, which need not be what was meant. */
function networkNow({ name, dns, extra_allowed_ips: extra }: Network): string {
  const facts = [
    ...(dns.length === 0 ? [] : [`DNS ${dns.join(', ')}`]),
    ...(extra.length === 0 ? [] : [`also routed: ${extra.join(', ')}`]),
  ];
  return `${name}: changed${facts.map((fact) => `; ${fact}`).join('')}`;
}

function deviceNow(device: Device): string {
  return `${device.name}: changed${termsOf(device)}`;
}

function makeServer(network: Network): string {
  return `culvert network set-server ${handleOf(network)} --generate --output ${interfaceOf(network)}.conf`;
}

function serverLine(network: Network): Line {
  const { cidr, server_public_key: key, server_listen_port: port } = network;
  if (key === null) return [span(`not set: ${makeServer(network)}`, 'yellow')];
  return [span(`${firstHost(cidr)}, WireGuard on port ${port ?? '?'}, public key ${key}`)];
}

function endpointOf(found: Network): string {
  if (found.public_endpoint === null) return '-';
  return found.public_endpoint + (found.reserved_udp_port === null ? ', without the relay' : '');
}

/** Devices without a handshake while the relay has clients: most likely the network's server does not know them yet. */
function unknownRow(found: Network, devices: readonly Device[], state: z.output<typeof relayState>) {
  const strangers = devices.filter((one) => !one.expired && (one.last_handshake_at ?? null) === null);
  if (!state.online || (state.flows ?? 0) === 0 || strangers.length === 0) return [];
  const names = strangers.slice(0, 5).map(({ name }) => name);
  const rest = strangers.length > 5 ? ` and ${strangers.length - 5} more` : '';
  const [first, second] = syncCommands(found);
  const text = `${names.join(', ')}${rest} have no handshake yet. If they try to connect, update WireGuard on the machine of the network's server: ${first} && ${second}`;
  return [['no handshake', [span(text, 'yellow')]] as const];
}

/** Why datagrams were dropped, the most frequent reason first. */
function droppedRow({ dropped }: z.output<typeof relayState>): Array<readonly [string, Line]> {
  const reasons = Object.entries(dropped ?? {})
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([reason, count]) => `${reason} ${count}`);
  return reasons.length === 0 ? [] : [['dropped', [span(reasons.join(', '), 'dim')]]];
}

function relayLine(found: Network, state: z.output<typeof relayState>): Line {
  if (found.reserved_udp_port === null) return [span('-')];
  const passed = `${amountOf(state.bytes_in)} in, ${amountOf(state.bytes_out)} out`;
  if (!state.online) {
    const command = `culvert udp ${found.server_listen_port ?? 'PORT'} --network ${handleOf(found)}`;
    return [span(`no agent serves it: ${command}`, 'yellow'), span(`; ${passed} so far`, 'dim')];
  }
  const since = state.path_since?.slice(0, 16).replace('T', ' ');
  const way = state.path === 'stream' ? span('over the TLS session', 'yellow') : span('over UDP', 'green');
  const clients = `, ${state.flows ?? 0} ${state.flows === 1 ? 'client' : 'clients'}`;
  const facts = span(`${since === undefined ? '' : ` since ${since} UTC`}${clients}, ${passed}`);
  // The server sees that no UDP comes; only the agent knows whether it tries.
  const hint = span('. `culvert status` on the machine of its agent shows why UDP fails', 'yellow');
  return state.path === 'stream' ? [way, facts, hint] : [way, facts];
}
