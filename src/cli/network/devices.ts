/** `culvert network devices`, `enroll` and `revoke`: who is in a network. The private key of a device is made or read here and stays here. */
import { z } from 'zod';
import type { Secret } from '../../base/secret.ts';
import { amountOf } from '../terminal/amount.ts';
import { type Asked, apiCommand, printDone, printRows } from '../client/api-command.ts';
import { configBound } from './config-bound.ts';
import { ConfigDelivery } from './config-delivery.ts';
import { confirm } from '../terminal/confirm.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { print, writeLine } from '../terminal/io.ts';
import { configText } from './config.ts';
import {
  type Device,
  devicePath,
  expiryFlag,
  findDevice,
  findNetwork,
  handleOf,
  listDevices,
  listOrNone,
  type Network,
  networkPath,
  plainIp,
  readDevice,
  routeCommands,
  syncCommands,
  tellNext,
  termsOf,
} from './items.ts';
import { harmless, jsonText, type Span, span } from '../terminal/paint.ts';
import { checkedPublicKey, makePrivateKey, publicKeyOf, readPrivateKey } from './wireguard-keys.ts';

const enrolled = z.looseObject({ device: z.unknown(), network_cidr: z.string() });

export const networkDevices = apiCommand(async (asked) => {
  const network = await findNetwork(asked);
  const rows = await listDevices(asked, network);
  if (asked.flags['json'] !== true && rows.length === 0) {
    const way = `culvert network enroll ${handleOf(network)} DEVICE`;
    return writeLine(asked.io.stderr, harmless(`${network.name} has no devices yet: ${way}`));
  }
  await printRows<Device>(asked, rows, {
    name: (row) => row.name,
    address: (row) => plainIp(row.assigned_ip),
    'last handshake (utc)': (row) => timeOf(row.last_handshake_at),
    'last seen (utc)': (row) => timeOf(row.last_seen_at),
    from: (row) => row.endpoint ?? '-',
    in: (row) => amountOf(row.bytes_in),
    out: (row) => amountOf(row.bytes_out),
    until: untilOf,
    networks: (row) => row.extra_allowed_ips.join(', ') || '-',
    id: (row) => row.id,
  });
});

export const networkEnroll = apiCommand(async (asked) => {
  const { args, flags } = asked;
  const given = textFlag(flags, 'publicKey');
  if (given !== undefined && flags['keyFile'] !== undefined)
    throw usageError('--public-key and --key-file: choose one');
  if (given !== undefined && flags['qr'] === true)
    throw usageError("--qr: needs the private key, so it can't be used with --public-key");
  const key = given === undefined ? await privateKeyFor(asked) : undefined;
  const publicKey = key === undefined ? checkedPublicKey(given ?? '') : publicKeyOf(key);
  const isMade = given === undefined && flags['keyFile'] === undefined;
  const wanted = {
    name: args[1],
    public_key: publicKey,
    expires_at: expiryFlag(flags),
    extra_allowed_ips: listOrNone(flags, 'extraAllowedIps'),
  };
  const delivery = await ConfigDelivery.prepare(asked);
  try {
    const network = await findNetwork(asked);
    const needsConfig = isMade || flags['qr'] === true || delivery.file !== undefined;
    if (network.server_public_key === null && needsConfig) throw noServer(network);
    const isKnown = await checkNew(asked, network, wanted);
    delivery.checkRoom(configBound(network));
    const answer = enrolled.parse(await asked.call('POST', `${networkPath(network.id)}/devices`, wanted));
    const device = readDevice(answer.device);
    if (flags['json'] !== true)
      writeLine(
        asked.io.stderr,
        harmless(
          `${device.name}: enrolled${isKnown ? ' already' : ''}, ${plainIp(device.assigned_ip)}${termsOf(device)}.`,
        ),
      );
    if (network.server_public_key === null) return await withoutConfig(asked, network, answer);
    const way = `culvert network revoke ${handleOf(network)} ${plainIp(device.assigned_ip)}`;
    const lost = isMade ? `The key is lost. Revoke the device and enroll it again: ${way}` : undefined;
    // In front of a QR code, which what comes behind it would push off the screen.
    const commands = device.extra_allowed_ips.length === 0 ? syncCommands(network) : routeCommands(network);
    tellNext(asked, "Next, on the machine of the network's server", commands);
    await delivery.deliver({ render: () => configText(asked, network, device), key, answer, lost });
  } finally {
    await delivery.close();
  }
});

export const networkRevoke = apiCommand(async (asked) => {
  const network = await findNetwork(asked);
  const device = await findDevice(asked, network);
  const what = `${device.name} (${plainIp(device.assigned_ip)}) from ${network.name}`;
  const isRelayed = network.reserved_udp_port !== null;
  const how = isRelayed
    ? 'It is blocked immediately'
    : 'It is blocked once the server of the network has a new configuration';
  await confirm(asked.io, asked.flags, `Revoke ${what}? ${how}. Its address becomes free.`);
  const answer = await asked.call('DELETE', devicePath(network.id, device.id));
  await printDone(asked, answer, `${device.name}: revoked`);
  const lead = isRelayed ? 'To remove it from WireGuard' : 'To block it';
  tellNext(asked, `${lead}, on the machine of the network's server`, syncCommands(network));
});

async function privateKeyFor({ flags, io }: Asked): Promise<Secret> {
  const file = textFlag(flags, 'keyFile');
  return file === undefined ? makePrivateKey() : readPrivateKey(file, io);
}

interface Wanted {
  readonly name: string | undefined;
  readonly public_key: string;
  readonly expires_at: string | null | undefined;
  readonly extra_allowed_ips: readonly string[] | undefined;
}

/**
 * Is the key enrolled already? The API then returns the existing device unchanged, so other wishes are an error here. The API
 * accepts devices of the same name; a user who repeats a name made a mistake. @throws ExitError (refused)
 */
async function checkNew(asked: Asked, network: Network, wanted: Wanted): Promise<boolean> {
  const all = await listDevices(asked, network);
  const known = all.find((one) => one.public_key === wanted.public_key);
  const same = known ?? all.find((one) => one.name === wanted.name);
  if (same === undefined) return false;
  const place = `${handleOf(network)} ${plainIp(same.assigned_ip)}`;
  if (known === undefined) {
    const text = `${network.name} already has a device "${same.name}" with another key. To replace it: culvert network revoke ${place}`;
    throw new ExitError(EXIT.refused, harmless(text));
  }
  const { expires_at: expires, extra_allowed_ips: extra } = wanted;
  const hasExtra = extra === undefined || extra.join() === known.extra_allowed_ips.join();
  const hasEnd = expires === undefined || expires === (known.expires_at ?? null);
  if (!known.expired && known.name === wanted.name && hasExtra && hasEnd) return true;
  const state = known.expired ? 'expired' : 'unchanged';
  const text = `${network.name} already has this key as "${known.name}" (${state}). To change it: culvert network edit ${place}, with --name, --expires or --extra-allowed-ips`;
  throw new ExitError(EXIT.refused, harmless(text));
}

function noServer(network: Network): ExitError {
  const way = `culvert network set-server ${handleOf(network)} --generate --output FILE`;
  const text = `${network.name} has no server yet, so devices have no configuration. First: ${way}`;
  return new ExitError(EXIT.refused, harmless(text));
}

async function withoutConfig({ io, flags }: Asked, network: Network, answer: object): Promise<void> {
  if (flags['json'] === true) return print(io.stdout, jsonText(answer));
  writeLine(io.stderr, harmless(`${network.name} has no server yet. Devices get a configuration once it has one.`));
}

function timeOf(time: string | null | undefined): string {
  return time?.slice(0, 16).replace('T', ' ') ?? '-';
}

function untilOf(row: Device): string | Span {
  if (row.expired) return span('expired', 'red');
  return row.expires_at === null || row.expires_at === undefined ? 'never' : timeOf(row.expires_at);
}
