/** Ids of records as the file keeps them: 16 bytes, in whose order they were made (UUIDv7, RFC 9562). */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Undefined: the text is no UUID. */
export function idBytes(id: string): Buffer | undefined {
  return UUID.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : undefined;
}

export function idText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The smallest id of an instant, milliseconds since the epoch; what is outside of the 48 bits is cut to them. */
export function firstIdAt(ms: number): Buffer {
  const id = Buffer.alloc(16);
  id.writeUIntBE(Math.min(Math.max(Math.floor(ms), 0), 2 ** 48 - 1), 0, 6);
  return id;
}

/** When an id was made, milliseconds since the epoch. */
export function idTime(id: Buffer): number {
  return id.readUIntBE(0, 6);
}

/** Behind all ids. */
export const LAST_ID = Buffer.alloc(16, 0xff);
