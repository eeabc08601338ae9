/**
 * Spreads the TLS handshakes of agents: after a restart all agents come at once, and a handshake costs as much as a hundred requests of visitors, who
 * are served by the same thread. Each turn of 10 ms begins a few; the rest waits in order. A rate and not a number under way: silent peers hold up
 * no agent. The number of waiting agents is bounded by anonymous.ts, whose deadline also runs meanwhile.
 */

/** 500 a second: a third of a core at most, and a thousand agents are back within two seconds. */
const PER_TURN = 5;
const TURN_MS = 10;

export class HandshakePace {
  readonly #waiting: Array<() => void> = [];
  #begun = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Handshakes that have not begun. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Calls `begin` now, or in its turn. */
  run(begin: () => void): void {
    this.#timer ??= setTimeout(() => this.#turn(), TURN_MS);
    if (this.#begun >= PER_TURN) return void this.#waiting.push(begin);
    this.#begun++;
    begin();
  }

  /** Forgets who waits. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting.length = 0;
  }

  #turn(): void {
    this.#timer = undefined;
    const next = this.#waiting.splice(0, PER_TURN);
    this.#begun = next.length;
    if (next.length > 0) this.#timer = setTimeout(() => this.#turn(), TURN_MS);
    for (const begin of next) begin();
  }
}
