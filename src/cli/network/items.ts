/** Private networks and their devices as the API shows them, and which one a person means by a name or an id. Used by the `network` commands. */
import { z } from 'zod';
import type { Asked } from '../client/api-command.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { optionOf, textFlag } from '../terminal/flags.ts';
import { writeLine } from '../terminal/io.ts';
import { harmless } from '../terminal/paint.ts';
import { momentMs, spanMs } from '../terminal/time-span.ts';

const network = z.looseObject({
  id: z.string(),
  name: z.string(),
  cidr: z.string(),
  server_public_key: z.string().nullable(),
  public_endpoint: z.string().nullable(),
  server_listen_port: z.int().nullable(),
  reserved_udp_port: z.int().nullable(),
  dns: z.array(z.string()).default([]),
  extra_allowed_ips: z.array(z.string()).default([]),
});

const device = z.looseObject({
  id: z.string(),
  name: z.string(),
  assigned_ip: z.string(),
  public_key: z.string(),
  expires_at: z.string().nullish(),
  expired: z.boolean().default(false),
  last_handshake_at: z.string().nullish(),
  last_seen_at: z.string().nullish(),
  bytes_in: z.int().default(0),
  bytes_out: z.int().default(0),
  endpoint: z.string().nullish(),
  extra_allowed_ips: z.array(z.string()).default([]),
});

export type Network = z.output<typeof network>;
export type Device = z.output<typeof device>;

/** How a private network's objects are read from an answer. @throws ZodError for something else */
export const readNetwork = (answer: unknown): Network => network.parse(answer);
export const readDevice = (answer: unknown): Device => device.parse(answer);

export async function listNetworks(asked: Asked): Promise<Network[]> {
  return network.array().parse(await asked.call('GET', '/private-networks'));
}

/** The network of the first argument, by id or name; a name may look like the id of another one. @throws ExitError (failure) when there is none. */
export async function findNetwork(asked: Asked): Promise<Network> {
  const [handle = ''] = asked.args;
  const all = await listNetworks(asked);
  const found = all.find(({ id }) => id === handle.toLowerCase()) ?? all.find(({ name }) => name === handle);
  if (found !== undefined) return found;
  throw new ExitError(EXIT.failure, harmless(`there is no network "${handle}". \`culvert network list\` shows them`));
}

export async function listDevices(asked: Asked, { id }: Network): Promise<Device[]> {
  return device.array().parse(await asked.call('GET', `${networkPath(id)}/devices`));
}

/** The device of the second argument, by name, address or id; several may have the name. @throws ExitError: failure for none, usage for several. */
export async function findDevice(asked: Asked, of: Network): Promise<Device> {
  const handle = asked.args[1] ?? '';
  const all = await listDevices(asked, of);
  const one = all.find(({ id, assigned_ip: ip }) => id === handle.toLowerCase() || plainIp(ip) === handle);
  const [first, ...others] = one === undefined ? all.filter(({ name }) => name === handle) : [one];
  if (first === undefined) {
    const way = `\`culvert network devices ${of.name}\` shows them`;
    throw new ExitError(EXIT.failure, harmless(`${of.name} has no device "${handle}". ${way}`));
  }
  if (others.length === 0) return first;
  const places = [first, ...others].map(({ assigned_ip: ip }) => plainIp(ip)).join(', ');
  const text = `${others.length + 1} devices of ${of.name} have the name "${handle}". Use an address: ${places}`;
  throw usageError(harmless(text));
}

export function networkPath(id: string): string {
  return `/private-networks/${encodeURIComponent(id)}`;
}

export function devicePath(networkId: string, deviceId: string): string {
  return `${networkPath(networkId)}/devices/${encodeURIComponent(deviceId)}`;
}

/** An address without the `/32` that stands behind it in places. */
export function plainIp(address: string): string {
  return address.replace(/\/32$/, '');
}

/** `, until 2027-01-31 18:00 UTC, 192.168.9.0/24 behind it`: what was understood. */
export function termsOf({ expires_at: end, extra_allowed_ips: behind }: Device): string {
  const until = end === null || end === undefined ? '' : `, until ${end.slice(0, 16).replace('T', ' ')} UTC`;
  return until + (behind.length === 0 ? '' : `, ${behind.join(' and ')} behind it`);
}

/** `--expires`: 30d, 12h or a time; null for "never", undefined when it was not given. @throws ExitError (usage) */
export function expiryFlag(flags: Asked['flags']): string | null | undefined {
  const text = textFlag(flags, 'expires');
  if (text === undefined) return undefined;
  if (text === 'never') return null;
  const span = spanMs(text);
  const at = span === undefined ? momentMs(text) : Date.now() + span;
  if (at === undefined) {
    const forms = 'not a time. Use 2026-12-24, 2026-12-24T18:00Z, 12h, 30d or never';
    throw usageError(harmless(`--expires: "${text}" is ${forms}`));
  }
  if (at <= Date.now()) throw usageError('--expires: that time is in the past');
  return new Date(at).toISOString();
}

/** An option's list, which commas separate; "none" is the empty one, undefined when it was not given. @throws ExitError (usage) */
export function listOrNone(flags: Asked['flags'], name: string): string[] | undefined {
  const text = textFlag(flags, name);
  if (text === undefined || text === 'none') return text === undefined ? undefined : [];
  const parts = text.split(',').map((part) => part.trim());
  if (parts.includes('')) throw usageError(harmless(`${optionOf(name)}: "${text}" has an empty entry`));
  return parts;
}

/** What an interface of WireGuard may be called: wg-quick makes it of the name of its file. */
export const INTERFACE_NAME = /^[a-zA-Z0-9_=+.-]{1,15}$/;

/** A name for the interface of a network. */
export function interfaceOf({ name }: Network): string {
  return INTERFACE_NAME.test(name) && !name.startsWith('-') ? name : 'wg-culvert';
}

/** Commands that add or remove a device in the WireGuard of the network's server. Other devices stay connected. */
export function syncCommands(network: Network): string[] {
  const name = interfaceOf(network);
  return [configCommand(network), `wg-quick strip ./${name}.conf | sudo wg syncconf ${name} /dev/stdin`];
}

/** The same for networks behind a device: only wg-quick sets routes, `wg syncconf` doesn't. Disconnects all devices for a moment. */
export function routeCommands(network: Network): string[] {
  const name = interfaceOf(network);
  return [configCommand(network), `sudo sh -c 'wg-quick down ./${name}.conf; wg-quick up ./${name}.conf'`];
}

/** Writes the configuration of the network's server over itself: the key in it stays. */
export function configCommand(network: Network): string {
  const name = interfaceOf(network);
  return `culvert network config ${handleOf(network)} --key-file ${name}.conf --output ${name}.conf --force`;
}

/** What to do next, for people: each command on a line of its own, to be copied. Nothing with `--json`. */
export function tellNext({ io, flags }: Asked, lead: string, commands: readonly string[]): void {
  if (flags['json'] === true || commands.length === 0) return;
  for (const line of [`${lead}:`, ...commands.map((command) => `  ${command}`)]) writeLine(io.stderr, harmless(line));
}

/** Of a private network, what a shell takes as it stands: its name, or its id where the name would need quotes. */
export function handleOf({ id, name }: Network): string {
  return /^[A-Za-z0-9._-]+$/.test(name) && !name.startsWith('-') ? name : id;
}
