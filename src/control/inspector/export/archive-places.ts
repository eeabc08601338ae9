/**
 * How many archives of requests are made or read at a time: each holds megabytes until its reader has taken them, and makes the loop work. In
 * memory: a restart begins anew. Called by inspector/service.ts.
 */
import { AppError } from '../../../base/errors.ts';
import type { UserActor } from '../../core/rules/actor.ts';

/** Of all organizations. */
export const MAX_ARCHIVES_AT_ONCE = 4;
const RETRY_AFTER_SECONDS = 2;

export class ArchivePlaces {
  /** Organizations and people that have one. A person may be in many organizations. */
  readonly #holders = new Set<string>();
  #taken = 0;

  /** Takes a place, to be given back by what it returns, which may be called twice. Throws `rate_limited`, `unavailable`. */
  enter({ orgId, userId }: UserActor): () => void {
    const holders = [`organization ${orgId}`, `person ${userId}`];
    if (holders.some((one) => this.#holders.has(one)))
      throw new AppError(
        'rate_limited',
        'Another archive of requests is being downloaded by you or your organization. Try again when it is done.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    if (this.#taken >= MAX_ARCHIVES_AT_ONCE)
      throw new AppError(
        'unavailable',
        'Too many archives are being downloaded from this server. Try again in a few seconds.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    for (const one of holders) this.#holders.add(one);
    this.#taken++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const one of holders) this.#holders.delete(one);
      this.#taken--;
    };
  }
}
