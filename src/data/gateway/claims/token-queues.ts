/**
 * What one token asks the control plane for, over all its sessions, in order: a quota is checked against what is bound, and two questions at once
 * would both be granted the last place. Tunnels that come back, of other sessions each, are asked for ahead of the answers before them, and count
 * as bound meanwhile: after a restart a thousand sessions of one token would else wait for a thousand round trips between two busy threads.
 * Shared by claims.ts and attaches.ts, with how long both wait.
 */
import { within } from '../../../base/limits/within.ts';
import type { Refusal } from '../../../plane/link.ts';

/** An answer that has not come by then is no answer; the agent tries again. */
const ANSWER_MS = 15_000;
/** The table follows the control plane within moments; later than this something is broken. */
export const TABLE_MS = 10_000;
/** Questions of one token under way: some 10 ms of the control plane. */
const MAX_UNDER_WAY = 32;

export interface TokenJob {
  readonly sessionId: string;
  /** The tunnel that comes back. Without one the job runs alone, as all jobs of one session do. */
  readonly tunnelId: string | undefined;
  /** Resolves once the answer is there; must not reject. `ahead`: tunnels of the jobs before it that are not settled. */
  ask(ahead: readonly string[]): Promise<void>;
  /** Called in the order of the queue. `again`: asks once more, with nothing ahead. Must not throw. */
  settle(): 'done' | 'again';
}

interface Queued {
  readonly job: TokenJob;
  readonly resolve: () => void;
  isAnswered: boolean;
}

interface Queue {
  readonly waiting: Queued[];
  readonly underWay: Queued[];
}

/** A queue for each token. */
export class TokenQueues {
  /** Entries leave with their last job; sessions bound how many stand in queue. */
  readonly #queues = new Map<string, Queue>();

  /** Runs `job` in its turn. Resolves when it is settled. */
  run(tokenId: string, job: TokenJob): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let queue = this.#queues.get(tokenId);
    if (queue === undefined) this.#queues.set(tokenId, (queue = { waiting: [], underWay: [] }));
    queue.waiting.push({ job, resolve, isAnswered: false });
    this.#advance(tokenId, queue);
    return promise;
  }

  #advance(tokenId: string, queue: Queue): void {
    for (let next = queue.waiting[0]; next !== undefined && mayStart(next.job, queue); next = queue.waiting[0]) {
      queue.waiting.shift();
      const ahead = queue.underWay.flatMap(({ job }) => job.tunnelId ?? []);
      queue.underWay.push(next);
      this.#ask(tokenId, queue, next, ahead);
    }
    if (queue.underWay.length === 0) this.#queues.delete(tokenId);
  }

  #ask(tokenId: string, queue: Queue, queued: Queued, ahead: readonly string[]): void {
    void queued.job.ask(ahead).then(() => {
      queued.isAnswered = true;
      this.#settle(tokenId, queue);
    });
  }

  #settle(tokenId: string, queue: Queue): void {
    for (let first = queue.underWay[0]; first?.isAnswered === true; first = queue.underWay[0]) {
      if (first.job.settle() === 'again') {
        first.isAnswered = false;
        this.#ask(tokenId, queue, first, []);
        return;
      }
      queue.underWay.shift();
      first.resolve();
    }
    this.#advance(tokenId, queue);
  }
}

function mayStart({ sessionId, tunnelId }: TokenJob, { underWay }: Queue): boolean {
  if (underWay.length === 0) return true;
  if (tunnelId === undefined || underWay.length >= MAX_UNDER_WAY) return false;
  return underWay.every(({ job }) => job.tunnelId !== undefined && job.sessionId !== sessionId);
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
