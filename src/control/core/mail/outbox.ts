/**
 * Mail on its way out: a row per email, written in the transaction that is the reason for it, so that there is an email if and only if
 * that was committed, also over a kill -9. Delivery is in mail-delivery.ts; services only `post`.
 */
import { count } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import type { Logger } from '../../../base/log.ts';
import { outgoingMails } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import type { Email } from './emails.ts';
import type { Sealer } from '../secrets/sealing.ts';

/** Emails that wait: hours of mail of a large server. Beyond it an email is dropped and logged; the caller's response stays the same. */
const MAX_WAITING = 10_000;

export type EndWatcher = (email: Email, isTaken: boolean) => void;

export class Outbox {
  readonly #sealer: Sealer;
  readonly #log: Logger;
  #wake: () => void = () => {};
  readonly #watchers: EndWatcher[] = [];

  constructor(deps: { sealer: Sealer; log: Logger }) {
    this.#sealer = deps.sealer;
    this.#log = deps.log;
  }

  /** Called after each commit that posted something. One listener: the delivery. */
  onPost(wake: () => void): void {
    this.#wake = wake;
  }

  /** Calls back when a mail server took an email, and each time that it was not taken. For as long as the outbox is. */
  watchEnds(watcher: EndWatcher): void {
    this.#watchers.push(watcher);
  }

  /** For the delivery: an attempt ended. */
  ended(email: Email, isTaken: boolean): void {
    for (const watch of this.#watchers) watch(email, isTaken);
  }

  /** `lifeSeconds`: after it the email is useless, and delivery gives up. */
  post(tx: Tx, email: Email, lifeSeconds: number): void {
    const waiting = tx.db.select({ n: count() }).from(outgoingMails).get()?.n ?? 0;
    if (waiting >= MAX_WAITING) {
      this.#log.error(
        { kind: email.kind, waiting },
        'an email was dropped: too many emails are waiting for the mail server',
      );
      return;
    }
    const id = uuidv7();
    tx.db
      .insert(outgoingMails)
      .values({
        id,
        sealedEmail: this.#sealer.seal(`outgoing_mails/${id}`, Buffer.from(JSON.stringify(email))),
        createdAt: tx.now,
        nextAt: tx.now,
        expiresAt: tx.now + lifeSeconds * 1000,
      })
      .run();
    tx.onCommit(() => this.#wake());
  }

  /** The email of a row. Throws when the row was sealed by another key. */
  open(row: { readonly id: string; readonly sealedEmail: string }): Email {
    return JSON.parse(this.#sealer.open(`outgoing_mails/${row.id}`, row.sealedEmail).toString()) as Email;
  }
}
