/**
 * How the data plane hands a connection for the API to the control plane: over a socket in the data folder, which begins with the address of the
 * client. Nothing that a client sends comes before it, so no client can claim the address of another.
 *
 *   +----------------+------------------------------+---------------------
 *   | length, 1 byte | address, ASCII, 2 to 45 bytes | HTTP, as it came
 *   +----------------+------------------------------+---------------------
 */
import { isIP } from 'node:net';

/** Bytes in front of the connection of a client at `ip`. */
export function relayedHeader(ip: string): Buffer {
  const text = Buffer.from(ip, 'latin1');
  return Buffer.concat([Buffer.from([text.length]), text]);
}

/** The client's address and the length of the header; `more`: it is not whole yet; `bad`: it is none. */
export function readRelayedHeader(bytes: Buffer): { readonly ip: string; readonly size: number } | 'more' | 'bad' {
  const length = bytes[0];
  if (length === undefined || bytes.length < length + 1) return 'more';
  const ip = bytes.toString('latin1', 1, length + 1);
  return isIP(ip) === 0 ? 'bad' : { ip, size: length + 1 };
}
