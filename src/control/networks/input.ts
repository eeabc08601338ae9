/** What people say about networks and devices, checked and written in one form. Pure; every function throws what the API answers with. */
import { parseHostPort, formatHostPort, canonicalIp } from '../../base/net/addr.ts';
import { AppError } from '../../base/errors.ts';
import { formatIpNetwork, holdsNetwork, type IpNetwork, readIpNetwork } from '../../base/net/ip-network.ts';
import type { Overlay } from './overlay.ts';

/** In characters. */
export const MAX_NAME = 63;
export const MAX_DNS = 3;
export const MAX_EXTRA_ALLOWED_IPS = 16;
/** Of what is behind a device; wider ones are halves and quarters of a default route. 10.0.0.0/8 may be a company's network. */
const MIN_PREFIX_BEHIND = 8;

/**
 * Names stand in configs, in lists and in logs. So none has line ends, none turns the rest of its line around, and no two look the same because of
 * what shows nothing. An emoji may say that it wants its colors (U+FE0F).
 */
const UNPRINTABLE =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u2800]|(?!\uFE0F)\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})\uFE0F/u;
/** What has an id is named by it too, and the id counts: a name of that form could be another network's id. */
const ID_FORM = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Without the spaces around it. Throws `invalid_name`. */
export function nameFrom(text: string): string {
  const name = text.trim();
  const why = lengthOf(name) > MAX_NAME || name === '' ? `It must have 1 to ${MAX_NAME} characters.` : nameFault(name);
  if (why === undefined) return name;
  throw new AppError('invalid_name', `The name is invalid. ${why}`, { details: [{ path: 'name', message: why }] });
}

/** In code points: a character beyond the first 65,536 is one. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}

function nameFault(name: string): string | undefined {
  if (UNPRINTABLE.test(name)) return 'It must not have line breaks or other invisible characters.';
  return ID_FORM.test(name) ? 'It must not look like an id.' : undefined;
}

/** Addresses of name servers, in order, each once. Throws `invalid_request`. */
export function dnsFrom(texts: readonly string[]): readonly string[] {
  const addresses = texts.map((text, i) => {
    const address = text.includes('%') ? undefined : canonicalIp(text);
    if (address === undefined) throw invalidField(`dns.${i}`, `${quoted(text)} is not an IP address.`);
    return address;
  });
  const each = [...new Set(addresses)];
  if (each.length > MAX_DNS) throw invalidField('dns', `At most ${MAX_DNS} name servers.`);
  return each;
}

/**
 * IP networks with the bits behind their prefix cleared, each once. None lies within the overlay: its addresses are given out one by one. A wider
 * one, such as 0.0.0.0/0, may hold it. Throws `invalid_request`.
 */
export function extraAllowedIpsFrom(texts: readonly string[], overlay: Overlay): readonly string[] {
  const path = 'extra_allowed_ips';
  const each = [...new Set(texts.map((text, i) => formatIpNetwork(checkedNetwork(text, `${path}.${i}`, overlay))))];
  if (each.length > MAX_EXTRA_ALLOWED_IPS) throw invalidField(path, `At most ${MAX_EXTRA_ALLOWED_IPS} networks.`);
  return each;
}

/**
 * Throws `invalid_request` for a network that can't be behind a device: with a default route to one, the network's server would send all traffic of its
 * own there, what carries the network among it, and be out of reach.
 */
export function checkBehind(networks: readonly string[]): void {
  const wide = networks.find((text) => (readIpNetwork(text)?.prefix ?? 0) < MIN_PREFIX_BEHIND);
  if (wide === undefined) return;
  throw invalidField(
    'extra_allowed_ips',
    `${quoted(wide)} can't be behind a device: the server of the network would send its own traffic there too. To route all traffic of devices through the network, run: culvert network edit NETWORK --extra-allowed-ips ${wide}`,
  );
}

function checkedNetwork(text: string, path: string, overlay: Overlay): IpNetwork {
  const network = readIpNetwork(text);
  if (network === undefined) throw invalidField(path, `${quoted(text)} is not an IP network such as 192.168.7.0/24.`);
  if (holdsNetwork(overlay.network, network)) {
    throw invalidField(
      path,
      `${quoted(text)} is inside the network itself (${overlay.cidr}). Use a network outside of it.`,
    );
  }
  return network;
}

/** Where clients reach a server by themselves. Throws `invalid_request`. */
export function endpointFrom(text: string): string {
  const endpoint = parseHostPort(text);
  if (endpoint === undefined || endpoint.port === 0) {
    const why = `${quoted(text)} is not an endpoint. Use host:port, such as vpn.example.com:51820 or [2001:db8::1]:51820.`;
    throw invalidField('public_endpoint', why);
  }
  return formatHostPort(endpoint);
}

/** An instant that is to come, milliseconds. Throws `invalid_request`. */
export function expiryFrom(text: string, now: number): number {
  const at = Date.parse(text);
  if (at > now) return at;
  throw invalidField('expires_at', 'The time is in the past. To end a device now, revoke it.');
}

function quoted(text: string): string {
  return `"${text.slice(0, 60)}"`;
}

/** What is said about a field of the body: `path` names it. */
export function invalidField(path: string, why: string): AppError {
  return new AppError('invalid_request', `The request is invalid: ${path}: ${why}`, {
    details: [{ path, message: why }],
  });
}
