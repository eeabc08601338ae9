/**
 * The mac1 check of strangers. The first message of a handshake carries a MAC keyed with the server's public key, which only the
 * holders of a configuration have. flow-filter.ts asks while too many new clients come: a flood of forged addresses keeps no
 * device out. An eavesdropper can repeat messages, so each counts once: WireGuard makes every one anew. A holder of a configuration,
 * also of a device that was revoked, can make any number, so the messages that pass have a limit of their own.
 */
import { Allowance } from '../../../base/limits/allowance.ts';
import { Mac1Message, type Mac1State, mac1State } from './mac1.ts';
import { MAC1_FROM_END } from '../../../wire/wireguard.ts';

/** 1.5 us each, less than the socket has cost by then. */
const LOOKS = { perSecond: 10_000, burst: 10_000 };
/** Messages that are known again, by the first four bytes of the MAC: the latest. */
const MAX_SEEN = 4_096;

/** Knows which first messages come from a client that has the server's public key. */
export class Mac1Check {
  readonly #serverKey: () => string;
  readonly #looks: Allowance;
  readonly #seen = new Set<number>();
  #known = '';
  #state: Mac1State | undefined;

  /** `serverKey`: 32 bytes in base64; asked each time, for a network may get another. */
  constructor({ serverKey, nowMs }: { readonly serverKey: () => string; readonly nowMs: number }) {
    this.#serverKey = serverKey;
    this.#looks = new Allowance(LOOKS, nowMs);
  }

  /**
   * Was `bytes[start, end)`, a handshake initiation, made by a client that knows the server's key? False when it was asked of the same message before, or
   * too many were asked about.
   */
  isKnown(bytes: Buffer, start: number, end: number, nowMs: number): boolean {
    if (!this.#looks.hasOne(nowMs)) return false;
    this.#looks.spend();
    const key = this.#serverKey();
    if (this.#state === undefined || key !== this.#known) {
      this.#state = mac1State(Buffer.from(key, 'base64'));
      this.#known = key;
    }
    const macAt = end - MAC1_FROM_END;
    const name = bytes.readUInt32BE(macAt);
    if (this.#seen.has(name) || !new Mac1Message(bytes, start, macAt).isFor(this.#state)) return false;
    this.#seen.add(name);
    if (this.#seen.size <= MAX_SEEN) return true;
    for (const oldest of this.#seen) {
      this.#seen.delete(oldest);
      break;
    }
    return true;
  }
}
