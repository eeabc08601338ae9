/**
 * Logs what services have sent that is no response: which tunnel, and why. Visitors get the same in their 502. A broken service answers each
 * request so, hence once a minute for a tunnel and a reason.
 */
import { Allowance } from '../../base/limits/allowance.ts';
import type { Logger } from '../../base/log.ts';
import { RecentMap } from '../../base/limits/recent-map.ts';

const AGAIN_MS = 60_000;
/** Tunnels and reasons that are remembered. */
const MAX_TOLD = 1_000;
/** Of all tunnels together: beyond, a line is left out of the log; `local_bad_response` counts on. */
const LINES = { perSecond: 1, burst: 60 };

export class ServiceFaults {
  readonly #log: Logger;
  readonly #told = new RecentMap<string, true>({ max: MAX_TOLD, ttlMs: AGAIN_MS });
  readonly #lines = new Allowance(LINES, performance.now());

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The service of `tunnel` (its id) sent what is no response. `traceId`: of the request; '' where it has none. */
  tell(tunnel: string, reason: string, traceId = ''): void {
    const key = `${tunnel} ${reason}`;
    if (this.#told.has(key) || !this.#lines.hasOne(performance.now())) return;
    this.#lines.spend();
    this.#told.set(key, true);
    const trace = traceId === '' ? {} : { trace_id: traceId };
    this.#log.info(
      { tunnel, reason, ...trace },
      'a service sent an invalid response: the visitor got 502 local_bad_response',
    );
  }
}
