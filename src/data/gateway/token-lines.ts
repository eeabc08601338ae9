/**
 * What one token asks the control plane for, over all its sessions, one after the other: a quota is held against what is bound, and two
 * questions at once would each be told that there is room for one more. Shared by claims.ts and attaches.ts, with how long both wait.
 */
import { within } from '../../base/within.ts';
import type { Refusal } from '../../plane/link.ts';

/** An answer that has not come by then is no answer; the agent is told to try again. */
const ANSWER_MS = 15_000;
/** The table follows the control plane within moments; later than this something is broken. */
export const TABLE_MS = 10_000;

export class TokenLines {
  /** The last job in line per token. Entries leave with their last job; sessions bound how many stand in line. */
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `job` once those before it are done. Resolves when it is; `job` must not reject. */
  run(tokenId: string, job: () => Promise<void>): Promise<void> {
    const before = this.#last.get(tokenId) ?? Promise.resolve();
    const mine = before.then(job).finally(() => {
      if (this.#last.get(tokenId) === mine) this.#last.delete(tokenId);
    });
    this.#last.set(tokenId, mine);
    return mine;
  }
}

/** The answer, or `late` when it has not come in time. */
export async function inTime<T>(answer: Promise<T>, late: T): Promise<T> {
  let came = late;
  const isThere = await within(
    answer.then((value) => {
      came = value;
    }),
    ANSWER_MS,
  );
  return isThere ? came : late;
}

export function refusal(code: Refusal['code'], message: string): Refusal {
  return { ok: false, code, message };
}
