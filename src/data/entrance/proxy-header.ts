/**
 * The header of the PROXY protocol, version 2 (haproxy's "The PROXY protocol", section 2.2), as a load balancer in front of the edge
 * sends it: says who the visitor is, before the first byte of the connection. Read by entrance.ts from the load balancers that the
 * operator names; the agent has its own writer, towards services (agent/local/proxy-header.ts).
 *
 *   +--------------------------------+-------------------+-----------------+--------+-------------------------+------+
 *   | signature, 12 bytes            | version 2, command | family, stream | length | addresses and ports     | TLVs |
 *   | 0D 0A 0D 0A 00 0D 0A 51 55 49… | 0x20, 0x21         | 0x11, 0x21, 0  | uint16 | 12 or 36 bytes          |      |
 *   +--------------------------------+-------------------+-----------------+--------+-------------------------+------+
 *
 * Strict: what a load balancer does not write is refused, for no other peer that reaches this port may pass for one.
 */
import { plainIp } from '../../base/net/addr.ts';
import { crc32c } from '../../base/bytes/crc32c.ts';

/** Signature, version and command, family and protocol, length. */
const FIXED_BYTES = 16;
/** Addresses take 36 bytes; the rest is for TLVs, of which certificates of clients are the longest that are in use. */
const MAX_LENGTH = 1_024;

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const VERSION_1 = Buffer.from('PROXY ', 'latin1');
const LOCAL = 0x20;
const PROXY = 0x21;
const UNSPECIFIED = 0x00;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;
const TLV_HEAD_BYTES = 3;
const TLV_CRC32C = 0x03;
const TLV_SSL = 0x20;
/** In the first byte of TLV_SSL: the client came by TLS. */
const CLIENT_SSL = 0x01;

/** Who is at the other end of the load balancer. */
export interface Proxied {
  /** IPv4 itself where it came in IPv6 clothes. */
  readonly ip: string;
  readonly port: number;
  /** The load balancer took TLS off. */
  readonly secure: boolean;
}

/** Why it is no header. `version_1`: the text form, from a load balancer that must be set to send the other one. */
export type ProxyFault = 'no_header' | 'version_1' | 'malformed';

export type ProxyHeader =
  | 'more'
  | { readonly fault: ProxyFault }
  /** `from` null: the load balancer speaks for itself (a health check) or does not know; the socket's own address counts. */
  | { readonly size: number; readonly from: Proxied | null };

const NO_HEADER = { fault: 'no_header' } as const;
const MALFORMED = { fault: 'malformed' } as const;

/**
 * Reads the header at the start of what a connection has sent so far. A wrong byte is refused when it is there, not when the header is
 * whole. `more` is said of less than 1,040 bytes only.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (!beginsLike(bytes, SIGNATURE)) return beginsLike(bytes, VERSION_1) ? version1(bytes) : NO_HEADER;
  if (bytes.length > 12 && bytes[12] !== LOCAL && bytes[12] !== PROXY) return MALFORMED;
  if (bytes.length < FIXED_BYTES) return 'more';
  const length = bytes.readUInt16BE(14);
  if (length > MAX_LENGTH) return MALFORMED;
  const size = FIXED_BYTES + length;
  const family = bytes[13] as number;
  const addresses = bytes[12] === LOCAL ? 0 : addressBytes(family);
  if (addresses === undefined || length < addresses) return MALFORMED;
  if (bytes.length < size) return 'more';
  // Of these two the rest means nothing, and is skipped as it is.
  if (addresses === 0) return { size, from: null };
  const tlvs = readTlvs(bytes, FIXED_BYTES + addresses, size);
  if (tlvs === null) return MALFORMED;
  const half = (addresses - 4) / 2;
  const ip = textOf(bytes.subarray(FIXED_BYTES, FIXED_BYTES + half));
  return { size, from: { ip, port: bytes.readUInt16BE(FIXED_BYTES + half * 2), secure: tlvs.secure } };
}

/** The text form is refused once it can't be a beginning of something else; nothing else begins so. */
function version1(bytes: Buffer): ProxyHeader {
  return bytes.length < VERSION_1.length ? 'more' : { fault: 'version_1' };
}

function beginsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.compare(start, 0, length, 0, length) === 0;
}

/** Bytes of the address block, 0 for "unspecified"; undefined for what is no TCP: datagrams and Unix sockets have no visitor of ours. */
function addressBytes(family: number): number | undefined {
  if (family === TCP_OVER_IPV4) return 12;
  if (family === TCP_OVER_IPV6) return 36;
  return family === UNSPECIFIED ? 0 : undefined;
}

/** What the TLVs say; null when they do not fill their place exactly, or the checksum is there and wrong. */
function readTlvs(bytes: Buffer, start: number, end: number): { readonly secure: boolean } | null {
  let secure = false;
  let at = start;
  while (at < end) {
    if (end - at < TLV_HEAD_BYTES) return null;
    const type = bytes[at];
    const value = at + TLV_HEAD_BYTES;
    const next = value + bytes.readUInt16BE(at + 1);
    if (next > end) return null;
    if (type === TLV_CRC32C && (next - value !== 4 || !isIntact(bytes.subarray(0, end), value))) return null;
    if (type === TLV_SSL && next > value) secure = ((bytes[value] as number) & CLIENT_SSL) !== 0;
    at = next;
  }
  return { secure };
}

/** The checksum of the whole header, computed with zeroes in its own place. */
function isIntact(header: Buffer, at: number): boolean {
  const blank = Buffer.from(header);
  blank.fill(0, at, at + 4);
  return crc32c(blank) === header.readUInt32BE(at);
}

function textOf(address: Buffer): string {
  if (address.length === 4) return address.join('.');
  const groups = Array.from({ length: 8 }, (_, n) => address.readUInt16BE(n * 2).toString(16));
  // The URL parser's form never ends in dotted quads: `::192.0.2.1` is no address of IPv4, and must not be read as one later.
  return plainIp(new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1));
}
