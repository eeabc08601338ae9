/**
 * The memory of calls.ts: datagrams with their addresses as recvmmsg and sendmmsg read and write them on 64-bit Linux. All of it is allocated at
 * once and every pointer in it written then, so that afterwards there are only slots, lengths and addresses of peers to choose.
 */

/** struct mmsghdr: name 8, its length 4 + 4, vector 8, its length 8, control 8, its length 8, flags 4 + 4, bytes 4 + 4. In words of 4 bytes: */
const HEADER_WORDS = 16;
const NAME_LENGTH = 2;
const VECTORS = 6;
const CONTROL_LENGTH = 10;
const BYTES = 14;
/** struct iovec: base 8, length 8. */
const VECTOR_WORDS = 4;
const VECTOR_LENGTH = 2;
/** struct sockaddr_in6 is 28. */
const NAME_BYTES = 32;
export const NAME_WORDS = NAME_BYTES / 4;
/** struct cmsghdr: length 8, level 4, type 4; then the size of a segment, 2, and room up to the next multiple of 8. */
const CONTROL_BYTES = 24;
const CONTROL_USED = 18n;
const SOL_UDP = 17;
const UDP_SEGMENT = 103;

export class Envelopes {
  readonly count: number;
  readonly slotBytes: number;
  /** Slot i begins at i × slotBytes. */
  readonly bytes: Buffer;
  /** Socket addresses: slot i begins at i × NAME_WORDS. */
  readonly names: Int32Array;
  /** Where the header of slot i is, for the kernel. */
  readonly pointers: readonly bigint[];
  readonly #headers: Int32Array;
  readonly #vectors: Int32Array;
  readonly #control: Uint16Array;

  /** `addressOf`: where a buffer is. An ArrayBuffer does not move, and these live as long as the envelopes. */
  constructor(addressOf: (memory: ArrayBuffer) => bigint, count: number, slotBytes: number) {
    const bytes = new ArrayBuffer(count * slotBytes);
    const names = new ArrayBuffer(count * NAME_BYTES);
    const vectors = new ArrayBuffer(count * VECTOR_WORDS * 4);
    const headers = new ArrayBuffer(count * HEADER_WORDS * 4);
    const control = new ArrayBuffer(CONTROL_BYTES);
    const vectorLongs = new BigUint64Array(vectors);
    const headerLongs = new BigUint64Array(headers);
    const pointers: bigint[] = [];
    for (let i = 0; i < count; i++) {
      vectorLongs[i * 2] = addressOf(bytes) + BigInt(i * slotBytes);
      vectorLongs[i * 2 + 1] = BigInt(slotBytes);
      headerLongs[i * 8] = addressOf(names) + BigInt(i * NAME_BYTES);
      headerLongs[i * 8 + 1] = BigInt(NAME_BYTES);
      headerLongs[i * 8 + 2] = addressOf(vectors) + BigInt(i * VECTOR_WORDS * 4);
      headerLongs[i * 8 + 3] = 1n;
      headerLongs[i * 8 + 4] = addressOf(control);
      pointers.push(addressOf(headers) + BigInt(i * HEADER_WORDS * 4));
    }
    new BigUint64Array(control, 0, 1).set([CONTROL_USED]);
    new Int32Array(control, 8, 2).set([SOL_UDP, UDP_SEGMENT]);
    this.count = count;
    this.slotBytes = slotBytes;
    this.bytes = Buffer.from(bytes);
    this.names = new Int32Array(names);
    this.pointers = pointers;
    this.#headers = new Int32Array(headers);
    this.#vectors = new Int32Array(vectors);
    this.#control = new Uint16Array(control, 16, 1);
  }

  /** How long the datagram is that was received into slot i. The slot is ready for the next one. */
  received(i: number): number {
    this.#headers[i * HEADER_WORDS + NAME_LENGTH] = NAME_BYTES;
    return this.#headers[i * HEADER_WORDS + BYTES] as number;
  }

  /** What is to be sent of slot i, at most slotBytes; `nameBytes` 0: to the peer of a connected socket. */
  address(i: number, length: number, nameBytes: number): void {
    if (length > this.slotBytes) throw new RangeError(`${length} bytes in a slot of ${this.slotBytes}`);
    this.#headers[i * HEADER_WORDS + NAME_LENGTH] = nameBytes;
    this.#vectors[i * VECTOR_WORDS + VECTOR_LENGTH] = length;
  }

  /** Bytes that are to be sent of slot i. */
  lengthOf(i: number): number {
    return this.#vectors[i * VECTOR_WORDS + VECTOR_LENGTH] as number;
  }

  /** Makes the message of slot i one of slots [i, i + count), cut at each `bytes`. To be undone by `part`. */
  join(i: number, count: number, bytes: number): void {
    if (i + count > this.count) throw new RangeError(`slot ${i + count} of ${this.count}`);
    this.#headers[i * HEADER_WORDS + VECTORS] = count;
    this.#headers[i * HEADER_WORDS + CONTROL_LENGTH] = CONTROL_BYTES;
    this.#control[0] = bytes;
  }

  part(i: number): void {
    this.#headers[i * HEADER_WORDS + VECTORS] = 1;
    this.#headers[i * HEADER_WORDS + CONTROL_LENGTH] = 0;
  }
}
