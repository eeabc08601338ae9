/**
 * Requests that change something: each begins when it is its turn, so that sixty of one organization stand behind one of another and not before it;
 * waits while another program has the database locked, two seconds at most; and is answered once what it did would survive a power cut.
 */
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../base/errors.ts';
import { FairQueue } from '../../base/fair-queue.ts';
import type { ApiEnv } from './context.ts';

/** What of the store is needed here (control/db/tx.ts). */
export interface Writes {
  readonly commits: number;
  writable(): Promise<void>;
  durable(): Promise<void>;
}

/** Beyond it a request is told to come again. */
const MAX_WAITING = 1_000;
const RETRY_SECONDS = 2;
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

export class WriteTurns {
  readonly #queue = new FairQueue<() => void>();
  #isRunning = false;

  /** Resolves when a request of this party may begin: one in each turn of the loop. @throws AppError `rate_limited` at the bound. */
  take(party: readonly string[]): Promise<void> {
    if (this.#queue.size >= MAX_WAITING)
      throw new AppError('rate_limited', 'Too many changes wait for their turn. Try again in a few seconds.', {
        retryAfterSeconds: RETRY_SECONDS,
      });
    return new Promise((resolve) => {
      this.#queue.push(party, resolve);
      if (!this.#isRunning) this.#inNextTurn();
    });
  }

  #inNextTurn(): void {
    this.#isRunning = true;
    setImmediate(() => {
      this.#queue.shift()?.();
      this.#isRunning = this.#queue.size > 0;
      if (this.#isRunning) this.#inNextTurn();
    });
  }
}

export function takeTurns(writes: Writes, turns = new WriteTurns()) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    if (READS.has(c.req.method)) return next();
    await turns.take(partyOf(c));
    await writes.writable();
    const before = writes.commits;
    await next();
    if (writes.commits !== before) await writes.durable();
  });
}

/** Organization and person; of a request without a log-in the address. */
function partyOf(c: Context<ApiEnv>): readonly string[] {
  const actor = c.get('actor');
  if (actor !== undefined) return [actor.orgId, actor.userId];
  return [c.get('clientIp')];
}
