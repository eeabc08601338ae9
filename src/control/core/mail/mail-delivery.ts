/**
 * Sends emails from the outbox; their poster never waits. Each is retried by itself, later and later, until its code or link has
 * expired. A recipient has one under way at a time, which keeps the order. A row is sent by one process, once; after a crash
 * between the mail server and the deletion of the row it is sent again, with the same Message-ID.
 */
import { and, asc, eq, gt, lte, or } from 'drizzle-orm';
import type { Logger } from '../../../base/log.ts';
import { outgoingMails } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import { MailError, type MailTransport } from '../../providers/mail.ts';
import { writeEmail } from './email-text.ts';
import type { Email } from './emails.ts';
import type { Outbox } from './outbox.ts';

type Row = typeof outgoingMails.$inferSelect;

/** Emails under way at once: hundreds a minute, by the few connections that mail servers grant one client. */
const CONCURRENT = 4;
/** Rows per query, and rows that one pass looks at while it searches for recipients with nothing under way. */
const PAGE = 16;
const MAX_SCAN = 512;
/** A try that takes longer is cut: a server that answers a byte at a time would hold its place for ever. */
const TRY_MS = 60_000;
/** First wait, doubled at each failure. */
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 10 * 60_000;
/** Part of an email's life that one wait may take: a code that is good for ten minutes is tried each minute at least. */
const LIFE_SHARE = 10;
/** Looks again at the latest after this, also where nothing is due later: reading the rows may have failed. */
const POLL_MS = 15_000;
/** What is under way at a stop gets this long; then it is cut, and sent after the next start. */
const STOP_MS = 3_000;

export interface MailDeliveryDeps {
  readonly store: Store;
  readonly outbox: Outbox;
  readonly transport: MailTransport;
  /** What links start with; read for each email. */
  readonly publicUrl: () => string;
  readonly log: Logger;
}

export class MailDelivery {
  readonly #deps: MailDeliveryDeps;
  /** By row; the recipient is kept for the order of their emails. */
  readonly #underWay = new Map<string, { readonly to: string; readonly done: Promise<void> }>();
  readonly #cut = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #pass: NodeJS.Immediate | undefined;
  #stopped: Promise<void> | undefined;

  constructor(deps: MailDeliveryDeps) {
    this.#deps = deps;
  }

  /** From now on emails are sent. Those that wait from an earlier run are due at once: settings or mail server may be new. */
  start(): void {
    this.#deps.outbox.onPost(() => this.wake());
    this.retryAll();
  }

  /** Emails that wait after a failure are due now. */
  retryAll(): void {
    this.#deps.store.inTx(({ db, now }) =>
      db.update(outgoingMails).set({ nextAt: now }).where(gt(outgoingMails.nextAt, now)).run(),
    );
    this.wake();
  }

  /** Looks for emails that are due, after the present turn of the loop. */
  wake(): void {
    if (this.#stopped === undefined) this.#pass ??= setImmediate(() => this.#look());
  }

  /** Sends no more; emails under way get three seconds. May be called twice. The database must stay open until it resolves. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#timer);
    clearImmediate(this.#pass);
    this.#deps.outbox.onPost(() => {});
    const ended = Promise.all([...this.#underWay.values()].map(({ done }) => done));
    const patience = setTimeout(() => this.#cut.abort(), STOP_MS);
    await ended;
    clearTimeout(patience);
    this.#deps.transport.close();
  }

  #look(): void {
    this.#pass = undefined;
    clearTimeout(this.#timer);
    const now = this.#deps.store.clock.now();
    let waitMs = POLL_MS;
    try {
      this.#sendDue(now);
      const next = this.#deps.store.db
        .select({ at: outgoingMails.nextAt })
        .from(outgoingMails)
        .where(gt(outgoingMails.nextAt, now))
        .orderBy(asc(outgoingMails.nextAt))
        .get();
      if (next !== undefined) waitMs = Math.min(next.at - now, POLL_MS);
    } catch (error) {
      this.#deps.log.error({ err: error }, 'could not read the waiting emails: retrying');
    }
    // Due emails without a place need no timer: the end of each one under way wakes.
    this.#timer = setTimeout(() => this.wake(), waitMs);
    this.#timer.unref();
  }

  #sendDue(now: number): void {
    let last: Row | undefined;
    for (let seen = 0; seen < MAX_SCAN && this.#underWay.size < CONCURRENT; seen += PAGE) {
      const rows = this.#due(now, last);
      for (const row of rows) if (this.#underWay.size < CONCURRENT) this.#begin(row, now);
      if (rows.length < PAGE) return;
      last = rows.at(-1);
    }
  }

  /** Rows whose time has come, oldest first, after `last`. */
  #due(now: number, last: Row | undefined): readonly Row[] {
    const { nextAt, id } = outgoingMails;
    return this.#deps.store.db
      .select()
      .from(outgoingMails)
      .where(
        and(
          lte(nextAt, now),
          last === undefined ? undefined : or(gt(nextAt, last.nextAt), and(eq(nextAt, last.nextAt), gt(id, last.id))),
        ),
      )
      .orderBy(asc(nextAt), asc(id))
      .limit(PAGE)
      .all();
  }

  #begin(row: Row, now: number): void {
    let email: Email;
    try {
      email = this.#deps.outbox.open(row);
    } catch (error) {
      this.#forget(row);
      this.#deps.log.error({ err: error, mail: row.id }, "an email was dropped: it can't be read");
      return;
    }
    const to = email.to.toLowerCase();
    // The row itself among them.
    for (const other of this.#underWay.values()) if (other.to === to) return;
    if (row.expiresAt <= now) {
      this.#giveUp(row, email, 'it waited too long');
      return;
    }
    const done = this.#send(row, email).finally(() => {
      this.#underWay.delete(row.id);
      this.wake();
    });
    this.#underWay.set(row.id, { to, done });
  }

  /** One try, with all that follows from it. Never rejects. */
  async #send(row: Row, email: Email): Promise<void> {
    const { transport, publicUrl, log } = this.#deps;
    try {
      try {
        const lifeSeconds = Math.round((row.expiresAt - row.createdAt) / 1000);
        const mail = writeEmail(email, { id: row.id, publicUrl: publicUrl(), lifeSeconds });
        await transport.send(mail, AbortSignal.any([this.#cut.signal, AbortSignal.timeout(TRY_MS)]));
      } catch (error) {
        this.#failed(row, email, error);
        return;
      }
      this.#forget(row);
      this.#deps.outbox.ended(email, true);
      log.debug({ mail: row.id, kind: email.kind, to: email.to }, 'an email was sent');
    } catch (error) {
      log.error({ err: error, mail: row.id }, 'the result of an email could not be stored: it may be sent again');
    }
  }

  #failed(row: Row, email: Email, error: unknown): void {
    if (this.#cut.signal.aborted) return; // Cut by the stop: the row waits for the next start as it is.
    this.#deps.outbox.ended(email, false);
    // The text of another error may hold the email.
    const reason = error instanceof MailError ? error.message : 'internal error while sending';
    if (error instanceof MailError && !error.retry) {
      this.#forget(row);
      // Not for the operator to act on: people mistype their addresses.
      this.#deps.log.warn(
        { mail: row.id, kind: email.kind, to: email.to, reason },
        'the mail server rejected an email: it was not delivered',
      );
      return;
    }
    const now = this.#deps.store.clock.now();
    const attempts = row.attempts + 1;
    const longest = Math.min(MAX_RETRY_MS, (row.expiresAt - row.createdAt) / LIFE_SHARE);
    const waitMs = Math.max(RETRY_MS, Math.min(longest, RETRY_MS * 2 ** (attempts - 1)));
    if (now + waitMs >= row.expiresAt) {
      this.#giveUp(row, email, reason);
      return;
    }
    this.#deps.store.inTx(
      ({ db }) =>
        db
          .update(outgoingMails)
          .set({ attempts, nextAt: now + waitMs })
          .where(eq(outgoingMails.id, row.id))
          .run(),
      // Lost in a power cut, it is tried early.
      { relaxed: true },
    );
    const level = error instanceof MailError && error.needsOperator ? 'error' : 'warn';
    this.#deps.log[level](
      { mail: row.id, kind: email.kind, to: email.to, reason, attempts, retryInSeconds: Math.round(waitMs / 1000) },
      'could not send an email: retrying',
    );
  }

  /** Its code or link has run out, or will before the next try. */
  #giveUp(row: Row, email: Email, reason: string): void {
    this.#forget(row);
    this.#deps.log.error(
      { mail: row.id, kind: email.kind, to: email.to, reason, attempts: row.attempts },
      'an email could not be sent in time and was dropped: check the mail server',
    );
  }

  #forget(row: Row): void {
    // Lost in a power cut, the email is sent twice; the wait for the disk at each would be the greater harm.
    this.#deps.store.inTx(({ db }) => db.delete(outgoingMails).where(eq(outgoingMails.id, row.id)).run(), {
      relaxed: true,
    });
  }
}
