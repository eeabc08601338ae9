/**
 * A protobuf message without its schema: fields by their numbers, as JSON text for the tree. What a field means is a guess where the wire format leaves it
 * open: a text, a message within, or bytes. Pure: tested without a browser.
 */
import { textOf } from './bytes.ts';

/** Deeper is shown as bytes. */
const MAX_DEPTH = 32;
/** Fields of a message, with all in it. */
const MAX_FIELDS = 20_000;
/** Of a field that is bytes. */
const MAX_HEX = 64;
/** Within a text that people write. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Undefined: it is no message. */
export function protoJson(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  return new MessageReader({ left: MAX_FIELDS }).message(bytes, 0);
}

class MessageReader {
  readonly #budget: { left: number };

  constructor(budget: { left: number }) {
    this.#budget = budget;
  }

  message(bytes: Uint8Array<ArrayBuffer>, depth: number): string | undefined {
    const fields: string[] = [];
    let at = 0;
    while (at < bytes.length) {
      const tag = varint(bytes, at);
      if (tag === undefined || --this.#budget.left < 0) return undefined;
      const number = Number(tag.value >> 3n);
      // Numbers end at 2^29 - 1.
      if (number < 1 || number > 536_870_911) return undefined;
      const field = this.#field(bytes, { at: tag.end, wire: Number(tag.value & 7n) }, depth);
      if (field === undefined) return undefined;
      fields.push(`${JSON.stringify(`${number}${field.kind}`)}:${field.json}`);
      at = field.end;
    }
    return `{${fields.join(',')}}`;
  }

  #field(
    bytes: Uint8Array<ArrayBuffer>,
    { at, wire }: { readonly at: number; readonly wire: number },
    depth: number,
  ): Field | undefined {
    switch (wire) {
      case 0: {
        const found = varint(bytes, at);
        if (found === undefined) return undefined;
        // A negative number is written as the one that is 2^64 larger.
        return { json: String(BigInt.asIntN(64, found.value)), kind: '', end: found.end };
      }
      case 1:
        return fixed(bytes, at, 8);
      case 5:
        return fixed(bytes, at, 4);
      case 2: {
        const length = varint(bytes, at);
        if (length === undefined || length.value > BigInt(bytes.length - length.end)) return undefined;
        const end = length.end + Number(length.value);
        return { ...this.#content(bytes.subarray(length.end, end), depth), end };
      }
      default:
        // Groups are gone since 2008; the rest was never there.
        return undefined;
    }
  }

  #content(bytes: Uint8Array<ArrayBuffer>, depth: number): { readonly json: string; readonly kind: string } {
    const text = textOf(bytes);
    if (text !== undefined && !CONTROL.test(text) && isWhole(text, bytes))
      return { json: JSON.stringify(text), kind: '' };
    const within = depth < MAX_DEPTH ? this.message(bytes, depth + 1) : undefined;
    if (within !== undefined) return { json: within, kind: '' };
    if (text !== undefined && isWhole(text, bytes)) return { json: JSON.stringify(text), kind: '' };
    return { json: JSON.stringify(hexText(bytes)), kind: ` (${bytes.length} bytes)` };
  }
}

interface Field {
  readonly json: string;
  /** What is said beside the number. */
  readonly kind: string;
  readonly end: number;
}

/** A text may have lost the half of a character at its end; here it must not. */
function isWhole(text: string, bytes: Uint8Array): boolean {
  return new TextEncoder().encode(text).length === bytes.length;
}

function fixed(bytes: Uint8Array<ArrayBuffer>, at: number, size: 4 | 8): Field | undefined {
  if (at + size > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, size);
  const whole = size === 4 ? view.getInt32(0, true) : view.getBigInt64(0, true);
  const broken = size === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true);
  return { json: JSON.stringify(`${whole} or ${broken}`), kind: ` (${size * 8} bits)`, end: at + size };
}

function hexText(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, MAX_HEX), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
  return bytes.length > MAX_HEX ? `${shown} …` : shown;
}

/** At most ten bytes of seven bits, the lowest first. */
function varint(bytes: Uint8Array, from: number): { readonly value: bigint; readonly end: number } | undefined {
  let value = 0n;
  for (let i = 0; i < 10; i++) {
    const byte = bytes[from + i];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 0x7f) << BigInt(7 * i);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: from + i + 1 };
  }
  return undefined;
}
