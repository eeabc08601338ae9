/**
 * Subscribers of requests as they are recorded, with their limits. The link publishes; live-feed-routes.ts holds the sockets. A subscriber hears of its own
 * organization alone. The server waits for no subscriber: what may not be sent is left out and counted, and `GET /inspector` has it.
 */
import { Allowance } from '../../base/limits/allowance.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { InspectedRequest } from '../../plane/inspection.ts';
import type { Store } from '../db/tx.ts';
import type { RecordItem } from '../db/usage/records.ts';
import { type Actor, allow, type UserActor } from '../core/rules/actor.ts';
import { callerNow } from '../core/rules/caller.ts';
import { FeedWaiting, MAX_WAITING_BYTES_IN_ALL } from './feed-waiting.ts';
import { knowTunnel } from './service.ts';

export const MAX_SUBSCRIBERS = 1_000;
export const MAX_SUBSCRIBERS_PER_USER = 20;
/** Messages per second, and twice that at once: all that a loop which also serves visitors should spend on people who watch. */
export const MAX_MESSAGES = 10_000;
/** Of one organization: an organization with many sockets takes from its own share. */
export const MAX_MESSAGES_PER_ORG = 2_000;

export type FeedItem = RecordItem;

/** Since the process started, but for `subscribers` and `waitingBytes`. */
export interface FeedStats {
  readonly subscribers: number;
  readonly sent: number;
  /** Left out because of the rates. */
  readonly notSent: number;
  /** Subscribers that were cut off because they did not take what was sent. */
  readonly tooSlow: number;
  readonly waitingBytes: number;
}

/** What the holder of a socket does for the feed. Neither may block or throw. */
export interface FeedListener {
  readonly take: (item: FeedItem) => void;
  /** A session of this person has ended, or their place in an organization has changed: `recheck` says whether they may still listen. */
  readonly look: () => void;
}

interface Subscriber extends FeedListener {
  readonly tunnelId: string | undefined;
}

interface OrgFeed {
  readonly subscribers: Set<Subscriber>;
  readonly rate: Allowance;
}

export class LiveFeed {
  /** What was sent and has not left yet: reported by the holder of the sockets. */
  readonly waiting: FeedWaiting;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #byOrg = new Map<string, OrgFeed>();
  readonly #ofUser = new Map<string, Set<Subscriber>>();
  readonly #rate: Allowance;
  #subscribers = 0;
  #sent = 0;
  #notSent = 0;
  #tooSlow = 0;

  /** `maxWaitingBytes`: other than what is documented, for tests. */
  constructor(deps: { readonly store: Store; readonly maxWaitingBytes?: number }) {
    this.waiting = new FeedWaiting(deps.maxWaitingBytes ?? MAX_WAITING_BYTES_IN_ALL);
    this.#store = deps.store;
    this.#clock = deps.store.clock;
    this.#rate = this.#rateOf(MAX_MESSAGES);
    deps.store.watchPeople((userId) => {
      for (const { look } of [...(this.#ofUser.get(userId) ?? [])]) look();
    });
  }

  /**
   * From now on the listener gets each request of the organization, or of the tunnel, until the returned function is called. Throws
   * `forbidden`, `not_found` (the tunnel), `rate_limited` (too many of this person), `unavailable` (too many in all).
   */
  join(actor: Actor, tunnelId: string | undefined, listener: FeedListener): () => void {
    allow(actor, 'read', 'record');
    knowTunnel(this.#store.db, actor, tunnelId);
    const { userId, orgId } = actor;
    const own = this.#ofUser.get(userId) ?? new Set();
    if (own.size >= MAX_SUBSCRIBERS_PER_USER)
      throw new AppError('rate_limited', `You have ${own.size} open live feeds, which is the limit. Close one first.`);
    if (this.#subscribers >= MAX_SUBSCRIBERS)
      throw new AppError('unavailable', 'This server has too many open live feeds. Use GET /inspector instead.');
    const feed = this.#byOrg.get(orgId) ?? {
      subscribers: new Set(),
      rate: this.#rateOf(MAX_MESSAGES_PER_ORG),
    };
    this.#byOrg.set(orgId, feed);
    this.#ofUser.set(userId, own);
    this.#subscribers += 1;
    const subscriber = { tunnelId, ...listener };
    feed.subscribers.add(subscriber);
    own.add(subscriber);
    return () => {
      if (!feed.subscribers.delete(subscriber)) return;
      this.#subscribers -= 1;
      if (feed.subscribers.size === 0) this.#byOrg.delete(orgId);
      own.delete(subscriber);
      if (own.size === 0) this.#ofUser.delete(userId);
    };
  }

  /** May this subscriber still listen, as the tables say now? Throws `unauthorized` or `forbidden` when not. */
  recheck(actor: UserActor): void {
    allow(callerNow({ db: this.#store.db, now: this.#clock.now() }, actor), 'read', 'record');
  }

  /** Tells of requests that a node has recorded. */
  publish(records: readonly InspectedRequest[]): void {
    if (this.#subscribers === 0) return;
    const now = this.#clock.monotonic();
    for (const record of records) {
      const feed = this.#byOrg.get(record.orgId);
      if (feed === undefined) continue;
      const item = itemOf(record);
      for (const { tunnelId, take } of feed.subscribers) {
        if (tunnelId !== undefined && tunnelId !== record.tunnelId) continue;
        if (feed.rate.hasOne(now) && this.#rate.hasOne(now)) {
          feed.rate.spend();
          this.#rate.spend();
          this.#sent += 1;
          take(item);
        } else this.#notSent += 1;
      }
    }
  }

  /** A subscriber was cut off because more waited for it than may for one. */
  countTooSlow(): void {
    this.#tooSlow += 1;
  }

  #rateOf(perSecond: number): Allowance {
    return new Allowance({ perSecond, burst: 2 * perSecond }, this.#clock.monotonic());
  }

  stats(): FeedStats {
    return {
      subscribers: this.#subscribers,
      sent: this.#sent,
      notSent: this.#notSent,
      tooSlow: this.#tooSlow + this.waiting.cut,
      waitingBytes: this.waiting.bytes,
    };
  }
}

function itemOf(record: InspectedRequest): FeedItem {
  const { id, tunnelId, at, method, target, status, latencyMs, requestSize, responseSize, remoteIp, replayOf } = record;
  const { outcome, code } = record.trace;
  const sizes = { latencyMs, requestSize, responseSize };
  return { id, tunnelId, at, method, target, status, ...sizes, remoteIp, replayOf, outcome, code };
}
