/**
 * The header of the PROXY protocol, version 2 (haproxy's "The PROXY protocol", section 2.2): tells a local TCP service who the visitor
 * is, before the first byte of the connection. Written by serve.ts for targets that asked for it; a service that does not expect it
 * takes it for garbage, so it is never sent unasked.
 *
 *   +--------------------------------+-------------------+-----------------+----------+---------+---------+-------+-------+
 *   | signature, 12 bytes            | version 2, command | family, stream | length   | source  | destin. | ports of both |
 *   | 0D 0A 0D 0A 00 0D 0A 51 55 49… | 0x21 = PROXY       | 0x11, 0x21, 0  | uint16   | 4 or 16 | 4 or 16 | uint16 each   |
 *   +--------------------------------+-------------------+-----------------+----------+---------+---------+-------+-------+
 *
 * Source is the visitor as the edge saw it. Destination is the address of the service as the agent dialled it: the agent knows
 * its public port's name, and not the address that the name led the visitor to.
 */
import { isIPv4 } from 'node:net';
import { ipv6Words, plainIp } from '../../base/net/addr.ts';
import type { VisitorAddress } from '../../wire/preamble.ts';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Signature, version and command, family and protocol, length. */
const FIXED_BYTES = 16;
const VERSION_2_PROXY = 0x21;
const UNSPECIFIED = 0x00;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;
const PORTS_BYTES = 4;

/** The local end: `remoteAddress` and `remotePort` of the socket, which has none any more where its peer has left already. */
export interface LocalEnd {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/**
 * The whole header. Where visitor and service are of two families, both are written as IPv6, the IPv4 one in its IPv6 clothes
 * (`::ffff:192.0.2.1`), as haproxy does. Without a visitor's address the header says "unspecified": a service then goes by the socket.
 */
export function proxyHeader(visitor: VisitorAddress | undefined, local: LocalEnd): Buffer {
  const { remoteAddress, remotePort = 0 } = local;
  if (visitor === undefined || remoteAddress === undefined) return header(UNSPECIFIED, 0);
  const destination = addressBytes(remoteAddress);
  const isIpv4 = visitor.family === 4 && destination.length === 4;
  const size = isIpv4 ? 4 : 16;
  const out = header(isIpv4 ? TCP_OVER_IPV4 : TCP_OVER_IPV6, size * 2 + PORTS_BYTES);
  putAddress(out, visitor.bytes, FIXED_BYTES, size);
  putAddress(out, destination, FIXED_BYTES + size, size);
  out.writeUInt16BE(visitor.port, FIXED_BYTES + size * 2);
  out.writeUInt16BE(remotePort, FIXED_BYTES + size * 2 + 2);
  return out;
}

/** The fixed part, with `length` zero bytes behind it. */
function header(family: number, length: number): Buffer {
  const out = Buffer.alloc(FIXED_BYTES + length);
  SIGNATURE.copy(out);
  out[12] = VERSION_2_PROXY;
  out[13] = family;
  out.writeUInt16BE(length, 14);
  return out;
}

/** Writes `address` into `size` bytes at `at`, which are zero: 4 bytes in 16 become `::ffff:` and the address. */
function putAddress(out: Buffer, address: Uint8Array, at: number, size: number): void {
  out.set(address, at + size - address.length);
  if (address.length < size) out.fill(0xff, at + 10, at + 12);
}

function addressBytes(address: string): Uint8Array {
  const plain = plainIp(address);
  if (isIPv4(plain)) return Uint8Array.from(plain.split('.'), Number);
  return Uint8Array.from(
    ipv6Words(plain)
      .map((word) => Number.parseInt(word, 16))
      .flatMap((word) => [word >> 8, word & 0xff]),
  );
}
