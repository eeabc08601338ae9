/**
 * How many requests tried actions (`enforce: false`) look at beside them, in all and of one organization: what such an action asks for, as the keys
 * of an issuer, may take seconds, and the request does not wait. One per node; used by chain.ts.
 */
import type { Logger } from '../../base/log.ts';

/** Each holds a token of up to 8 KB. Beyond it a request passes unseen, and that is said in the log. */
export const MAX_DRY_RUNS = 512;
export const MAX_DRY_RUNS_OF_ONE = 64;
/** It is said once in so long, with the count since and the last organization. */
const SAY_AGAIN_MS = 60_000;

/** The slots of a node for dry runs beside a request. */
export class DryRunSlots {
  readonly #log: Logger;
  /** By organization. */
  readonly #underWay = new Map<string, number>();
  #all = 0;
  #missed = 0;
  #saidMs = Number.NEGATIVE_INFINITY;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Requests that were not checked, since the last report. */
  get missed(): number {
    return this.#missed;
  }

  /** False: this request is not looked at. Each true needs one `end`. */
  begin(orgId: string): boolean {
    const own = this.#underWay.get(orgId) ?? 0;
    if (this.#all >= MAX_DRY_RUNS || own >= MAX_DRY_RUNS_OF_ONE) {
      this.#miss(orgId);
      return false;
    }
    this.#all++;
    this.#underWay.set(orgId, own + 1);
    return true;
  }

  end(orgId: string): void {
    const own = this.#underWay.get(orgId) as number;
    this.#all--;
    if (own === 1) this.#underWay.delete(orgId);
    else this.#underWay.set(orgId, own - 1);
  }

  #miss(orgId: string): void {
    this.#missed++;
    const now = performance.now();
    if (now - this.#saidMs < SAY_AGAIN_MS) return;
    this.#saidMs = now;
    this.#log.warn(
      { orgId, missed: this.#missed },
      'requests skipped a log-only policy action: too many requests are waiting, for example for the keys of the issuer',
    );
    this.#missed = 0;
  }
}
