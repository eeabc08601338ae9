/**
 * Requests that change something: each begins when it is its turn, so that sixty of one organization stand behind one of another and not before it;
 * waits while another program has the database locked, two seconds at most; and is answered once what it did would survive a power cut.
 */
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../../base/errors.ts';
import { FairQueue } from '../../../base/limits/fair-queue.ts';
import type { ApiEnv, Writes } from './context.ts';

/** Beyond it a request gets a retry. */
const MAX_WAITING = 1_000;
const RETRY_SECONDS = 2;
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

interface Waiting {
  begin(): void;
  refuse(error: AppError): void;
}

/** The queue of writes, fair to organizations. */
export class WriteQueue {
  readonly #queue = new FairQueue<Waiting>();
  #isRunning = false;

  /**
   * Resolves when a request of this party may begin: one in each turn of the loop. @throws AppError `rate_limited` at the bound: the newest request of
   * the party that has most waiting, so that no party fills the queue for others.
   */
  take(party: readonly string[]): Promise<void> {
    if (this.#queue.size >= MAX_WAITING) {
      const displaced = this.#queue.displace(party);
      if (displaced === undefined) return Promise.reject(tooMany());
      displaced.refuse(tooMany());
    }
    return new Promise((resolve, reject) => {
      this.#queue.push(party, { begin: resolve, refuse: reject });
      if (!this.#isRunning) this.#inNextTurn();
    });
  }

  #inNextTurn(): void {
    this.#isRunning = true;
    setImmediate(() => {
      this.#queue.shift()?.begin();
      this.#isRunning = this.#queue.size > 0;
      if (this.#isRunning) this.#inNextTurn();
    });
  }
}

export function queueWrites(writes: Writes, queue = new WriteQueue()) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    if (READS.has(c.req.method)) return next();
    await queue.take(partyOf(c));
    await writes.writable();
    const before = writes.commits;
    await next();
    if (writes.commits !== before) await writes.durable();
  });
}

function tooMany(): AppError {
  return new AppError('rate_limited', 'Too many changes are waiting in the queue. Try again in a few seconds.', {
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/**
 * Organization and person, or master key; operators beside them. All without a login (log-ins, sign-ups, webhooks) share the turns of one organization by
 * their addresses: a thousand addresses hold up no customer, and no customer holds them up.
 */
function partyOf(c: Context<ApiEnv>): readonly string[] {
  const actor = c.get('actor');
  if (actor !== undefined) return [actor.orgId, actor.userId];
  const key = c.get('masterKeyNow')?.();
  if (key !== undefined) return [key.orgId, key.tokenId];
  return [c.get('operator') === undefined ? 'strangers' : 'operators', c.get('clientIp')];
}
