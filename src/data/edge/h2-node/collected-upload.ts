/**
 * The body of a request over HTTP/2 whose policy wants to see it first: kept until it is whole and allowed, then sent on as the service takes it. One
 * per exchange, used for each of its requests in turn.
 */
import { JoinedBytes } from '../../../base/bytes/joined-bytes.ts';
import type { WantedBody } from '../exchange/wanted-body.ts';

/** Sent on at once. */
const PIECE_BYTES = 65_536;
const NOTHING = Buffer.alloc(0);

export class CollectedUpload {
  readonly #wanted: WantedBody;
  readonly #joined = new JoinedBytes();
  #whole: Buffer | null = null;
  isInUse = false;

  constructor(wanted: WantedBody) {
    this.#wanted = wanted;
  }

  /** The visitor has yet to send the rest. */
  get isAwaited(): boolean {
    return this.isInUse && this.#whole === null && this.#wanted.isWanted;
  }

  /** What it takes of the memory. */
  get heldBytes(): number {
    return this.#joined.heldBytes + (this.#whole?.length ?? 0);
  }

  begin(): void {
    this.isInUse = true;
  }

  /** Nothing more is kept once it is refused. */
  add(bytes: Buffer): void {
    if (!this.#wanted.isWanted) return;
    if (this.#wanted.grow(bytes.length, bytes.length)) this.#joined.add(bytes, 0, bytes.length);
    else this.#joined.clear();
  }

  /** The visitor has sent all. */
  end(): void {
    if (!this.#wanted.isWanted) return;
    this.#whole = Buffer.concat(this.#joined.takeAll());
    this.#wanted.end(this.#whole);
  }

  /** It is wanted once more. */
  again(): void {
    if (this.#whole !== null) this.#wanted.end(this.#whole);
  }

  /** What is to be sent on next; undefined: nothing is left. */
  next(): Buffer | undefined {
    const whole = this.#whole ?? NOTHING;
    if (whole.length === 0) return undefined;
    this.#whole = whole.subarray(PIECE_BYTES);
    return whole.subarray(0, PIECE_BYTES);
  }

  /** The request is over. */
  drop(): void {
    this.#wanted.refuse();
    if (!this.isInUse) return;
    this.isInUse = false;
    this.#joined.clear();
    this.#whole = null;
  }
}
