/**
 * Says that nothing waits behind what was read of a socket, where the read itself did not show it: it filled its buffer, it was of TLS (one read
 * of the network is many of those), or reading was paused meanwhile. A whole turn of the event loop in which the socket was watched and brought
 * nothing shows it. Used by base/bytes/pipe.ts.
 */
import type { TurnEnd, TurnJob } from '../process/turn.ts';

/** The end of the turn in which it was asked for says nothing of the socket yet; the end of the next one does. */
const QUIET_TURNS = 2;

export class Clearance implements TurnJob {
  readonly #turn: TurnEnd;
  readonly #onClear: () => void;
  #left = 0;
  #scheduled = false;

  constructor(turn: TurnEnd, onClear: () => void) {
    this.#turn = turn;
    this.#onClear = onClear;
  }

  /** To be said unless something is read, or `cancel` is called, before a turn is over. */
  ask(): void {
    this.#left = QUIET_TURNS;
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#turn.add(this);
  }

  cancel(): void {
    this.#left = 0;
  }

  atTurnEnd(): void {
    if (this.#left > 1) {
      this.#left--;
      this.#turn.add(this);
      return;
    }
    this.#scheduled = false;
    if (this.#left === 0) return;
    this.#left = 0;
    this.#onClear();
  }
}
