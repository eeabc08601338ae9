/**
 * The tokens of agents that carried a network before: what such an agent still sends, because it has not heard yet that another took over or that its
 * session is over, is no client's. Used by relay.ts for each datagram that shows no token of now.
 */
import { hasRelayToken, RELAY_HEAD_BYTES, RELAY_KIND } from '../../../wire/relay-packets.ts';

/** An agent that attaches again and again leaves no more behind; an agent falls silent within half a minute of its end. */
const MAX_FORMER = 8;

export class FormerTokens {
  /** Oldest first. */
  readonly #tokens: Uint8Array[] = [];

  /** Its attachment is over. */
  add(token: Uint8Array): void {
    this.#tokens.push(token);
    if (this.#tokens.length > MAX_FORMER) this.#tokens.shift();
  }

  /** Is `bytes[start, end)` an agent's packet with one of them? WireGuard has nothing that looks like one. */
  shownIn(bytes: Buffer, start: number, end: number): boolean {
    const kind = bytes[start] as number;
    if (end - start < RELAY_HEAD_BYTES || kind < RELAY_KIND.data || kind > RELAY_KIND.pong) return false;
    return this.#tokens.some((token) => hasRelayToken(bytes, token, start, end));
  }
}
