/**
 * An authenticator app: the code that it shows for a secret at an instant (RFC 6238 on RFC 4226), written from the standards so that it shares
 * nothing with the server.
 */
import { createHmac } from 'node:crypto';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** `steps`: how many periods of 30 seconds the app's clock is ahead. */
export function codeAt(secretBase32: string, ms: number, steps = 0): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(ms / 30_000) + steps));
  const mac = createHmac('sha1', base32Bytes(secretBase32)).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 15;
  return String((mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, '0');
}

/** Six digits that are right for none of the steps around this instant. */
export function wrongCode(secretBase32: string, ms: number): string {
  const right = new Set(Array.from({ length: 11 }, (_, i) => codeAt(secretBase32, ms, i - 5)));
  for (let n = 0; ; n++) {
    const code = String(n).padStart(6, '0');
    if (!right.has(code)) return code;
  }
}

export function base32Bytes(text: string): Buffer {
  const bits = Array.from(text, (symbol) => BASE32.indexOf(symbol).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
