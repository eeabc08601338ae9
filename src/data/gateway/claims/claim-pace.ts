/**
 * How fast one agent session may claim: all that its quota allows, twice over, at once, then ten per second. More is an agent that opens
 * and drops tunnels in a circle, each of which costs a row, an audit entry and a route. Excess is not refused but waits, so that an honest
 * agent notices nothing but a pause.
 */

const SPARE = 20;
const INTERVAL_MS = 100;
/** A clock that was set back makes no claim wait for longer. */
const MAX_WAIT_MS = 30_000;

/** Generic cell rate algorithm: one number per session. */
export class ClaimPace {
  #dueMs = 0;

  /** Counts one claim; milliseconds that it must wait. A later claim is never due before an earlier one. */
  take(tunnelQuota: number, nowMs: number): number {
    const due = Math.max(this.#dueMs, nowMs);
    this.#dueMs = due + INTERVAL_MS;
    const slack = (SPARE + 2 * tunnelQuota - 1) * INTERVAL_MS;
    return Math.min(MAX_WAIT_MS, Math.max(0, due - nowMs - slack));
  }
}
