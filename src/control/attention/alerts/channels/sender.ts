/**
 * Sends messages of alerts: one at a time and in order per channel, retried as forwarded webhooks are. Emails go to the outbox, which retries by
 * itself. A job of index.ts looks for what is due; a message that a stop cuts off is sent again after the start, with the same id.
 */
import type { Logger } from '../../../../base/log.ts';
import { RecentMap } from '../../../../base/limits/recent-map.ts';
import { Shares } from '../../../../base/limits/shares.ts';
import { guardedPost, type Posted, type PostRules } from '../../../../base/net/outbound/guarded-post.ts';
import type { EmailLimit } from '../../../core/mail/email-limit.ts';
import type { Outbox } from '../../../core/mail/outbox.ts';
import { emailKey } from '../../../core/rules/email-key.ts';
import type { Sealer } from '../../../core/secrets/sealing.ts';
import type { Store, Tx } from '../../../db/tx.ts';
import { waitAfter } from '../../../webhooks/forward-try.ts';
import type { Channel } from './channels.ts';
import { linesOf, postsOf } from './formats.ts';
import { delayMessage, dueMessages, type MessageRow, removeMessage } from './message-rows.ts';
import { headline, type Notice } from './notices.ts';
import { channelById, type ChannelRow, noteAttempt, openChannel } from '../rows.ts';

/** Attempts under way at once, and of one organization. */
const MAX_AT_ONCE = 16;
const MAX_OF_ORG = 4;
/** Channels that are looked at in one turn. */
const PAGE = 64;
/** The same of one organization; includes running attempts. */
const PAGE_OF_ORG = 2 * MAX_OF_ORG;
/** An address that gets too many emails is looked at again after this. */
const CROWDED_MS = 5 * 60_000;
/** An email about an alert is of use for so long. */
const EMAIL_SECONDS = 24 * 3_600;
/** Pause of a channel after a result that can't be stored: else it would get the same message every second. */
const PAUSE_MS = 60_000;
/** Paused channels at once. */
const MAX_PAUSED = 10_000;
/** Longest error that is kept. */
const MAX_ERROR = 300;

export interface SenderDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly outbox: Pick<Outbox, 'post'>;
  readonly emailLimit: Pick<EmailLimit, 'take'>;
  readonly postRules: PostRules;
  readonly publicUrl: () => string;
  readonly log: Logger;
}

/** How an attempt ended. */
interface Outcome {
  /** null: the message was taken. */
  readonly error: string | null;
  readonly retryAfterMs: number;
  /** There is no sense in trying again. */
  readonly isFinal: boolean;
}

const TAKEN: Outcome = { error: null, retryAfterMs: 0, isFinal: true };
const UNREADABLE: Outcome = {
  error: "The settings of the channel can't be read. Replace the channel.",
  retryAfterMs: 0,
  isFinal: true,
};
/** The service says so itself: what is sent here is never wanted. */
const GONE = 410;

export class AlertSender {
  readonly #deps: SenderDeps;
  readonly #places = new Shares({ places: MAX_AT_ONCE, each: MAX_OF_ORG });
  /** By channel; as many as there are places. */
  readonly #underWay = new Map<string, Promise<void>>();
  /** By channel; until when. */
  readonly #paused = new RecentMap<string, number>({ max: MAX_PAUSED });

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  /** Begins to send what is due. Returns how many messages are under way. */
  sendDue(stopping: AbortSignal): number {
    const { db, clock } = this.#deps.store;
    for (const row of dueMessages(db, { now: clock.now(), limit: PAGE, each: PAGE_OF_ORG }))
      if (!this.#underWay.has(row.channelId)) this.#begin(row, stopping);
    return this.#underWay.size;
  }

  /** Resolves once nothing is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
  }

  /** One attempt, whose end is written down for the channel alone. Returns what was wrong; null: the message was taken. */
  async sendNow(
    channelId: string,
    { orgId, id, notice }: Pick<MessageRow, 'orgId' | 'id' | 'notice'>,
  ): Promise<string | null> {
    const { store } = this.#deps;
    const row = channelById(store.db, channelId);
    if (row === undefined) return 'The channel was deleted.';
    if (row.confirmHash !== null) return 'The address is not confirmed yet. Its owner must open the link in the email.';
    const channel = this.#open(row);
    if (channel === undefined) return UNREADABLE.error;
    if (channel.type === 'email') {
      const isTaken = store.inTx((tx) => this.#email(tx, { orgId, channelId, to: channel.to, notice }));
      return isTaken ? null : 'Too many emails to this address. Try again later.';
    }
    const { error } = await this.#post(channel, { id, notice }, undefined);
    store.inTx((tx) => noteAttempt(tx, channelId, error), { relaxed: true });
    return error;
  }

  #begin(row: MessageRow, stopping: AbortSignal): void {
    const { store, log } = this.#deps;
    if ((this.#paused.get(row.channelId) ?? 0) > store.clock.monotonic()) return;
    const found = channelById(store.db, row.channelId);
    if (found === undefined) return;
    // Its address was changed after the message was queued.
    if (found.confirmHash !== null) return store.inTx((tx) => removeMessage(tx, row.id));
    const leave = this.#places.take(row.orgId);
    if (leave === undefined) return;
    const done = this.#attempt(row, found, stopping)
      .catch((error: unknown) => {
        log.error({ err: error, message: row.id }, 'the result of an alert could not be stored: it may be sent again');
        this.#paused.set(row.channelId, store.clock.monotonic() + PAUSE_MS);
      })
      .finally(() => {
        leave();
        this.#underWay.delete(row.channelId);
      });
    this.#underWay.set(row.channelId, done);
  }

  async #attempt(row: MessageRow, found: ChannelRow, stopping: AbortSignal): Promise<void> {
    const channel = this.#open(found);
    if (channel === undefined) {
      this.#ended(row, UNREADABLE, stopping);
      return;
    }
    if (channel.type === 'email') this.#emailRow(row, channel.to);
    else this.#ended(row, await this.#post(channel, row, stopping), stopping);
  }

  #open(row: ChannelRow): Channel | undefined {
    try {
      return openChannel(this.#deps.sealer, row);
    } catch (error) {
      this.#deps.log.error({ err: error, channel: row.id }, "the settings of an alert channel can't be read");
      return undefined;
    }
  }

  #emailRow(row: MessageRow, to: string): void {
    this.#deps.store.inTx((tx) => {
      if (this.#email(tx, { ...row, to })) removeMessage(tx, row.id);
      else delayMessage(tx, row.id, { attempts: row.attempts, nextAt: tx.now + CROWDED_MS });
    });
  }

  /** False: the address got too many. */
  #email(tx: Tx, of: { orgId: string; channelId: string; to: string; notice: Notice }): boolean {
    const { outbox, emailLimit, publicUrl } = this.#deps;
    const { to, notice, channelId } = of;
    const key = emailKey(to);
    if (!emailLimit.take('alert', key, of.orgId) || !emailLimit.take('alerted', key)) return false;
    const [first] = notice.items;
    outbox.post(
      tx,
      {
        kind: 'alert',
        to,
        channelId,
        organization: notice.organization.name,
        subject: headline(notice),
        lines: linesOf(notice),
        link: `${publicUrl()}${notice.items.length === 1 ? (first?.href ?? '/app/alerts') : '/app/alerts'}`,
      },
      EMAIL_SECONDS,
    );
    return true;
  }

  /** Never rejects. */
  async #post(
    channel: Exclude<Channel, { type: 'email' }>,
    { id, notice }: Pick<MessageRow, 'id' | 'notice'>,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const { store, postRules, publicUrl } = this.#deps;
    try {
      for (const post of postsOf(channel, notice, { id, at: store.clock.now(), publicUrl: publicUrl() })) {
        const outcome = outcomeOf(
          await guardedPost(channel.url, signal === undefined ? post : { ...post, signal }, postRules),
        );
        if (outcome.error !== null) return outcome;
      }
      return TAKEN;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { error: `Not sent: ${text}.`.slice(0, MAX_ERROR), retryAfterMs: 0, isFinal: false };
    }
  }

  #ended(row: MessageRow, { error, retryAfterMs, isFinal }: Outcome, stopping: AbortSignal): void {
    // The database may be closed: it is sent again after the start.
    if (stopping.aborted) return;
    this.#deps.store.inTx(
      (tx) => {
        noteAttempt(tx, row.channelId, error);
        const attempts = row.attempts + 1;
        const waitMs = isFinal ? null : waitAfter(attempts);
        if (waitMs === null) removeMessage(tx, row.id);
        else delayMessage(tx, row.id, { attempts, nextAt: tx.now + Math.max(waitMs, retryAfterMs) });
      },
      { relaxed: true },
    );
  }
}

function outcomeOf({ status, retryAfterSeconds }: Posted): Outcome {
  if (status >= 200 && status < 300) return TAKEN;
  const error = `The endpoint responded with status ${status}.`;
  return { error, retryAfterMs: (retryAfterSeconds ?? 0) * 1_000, isFinal: status === GONE };
}
