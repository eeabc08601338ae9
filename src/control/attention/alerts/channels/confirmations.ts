/**
 * Addresses of email channels: an address that no member has verified gets alerts after its owner opens the link in an email, so that alerts can't flood
 * strangers. Only a hash of the token is stored; it works for a week. A member who sends the email again never sees the link.
 */
import { randomBytes } from 'node:crypto';
import { AppError } from '../../../../base/errors.ts';
import type { EmailLimit } from '../../../core/mail/email-limit.ts';
import type { Outbox } from '../../../core/mail/outbox.ts';
import type { UserActor } from '../../../core/rules/actor.ts';
import { recordAudit } from '../../../core/rules/audit.ts';
import { checkDailyLimit } from '../../../core/rules/daily-limit.ts';
import { emailKey } from '../../../core/rules/email-key.ts';
import { hashOf } from '../../../core/secrets/secret-hash.ts';
import type { Store, Tx } from '../../../db/tx.ts';
import { findOrg } from '../../../organizations/rows.ts';
import type { ChannelRow } from '../rows.ts';
import type { PendingLink } from './channels.ts';
import { isKnownAddress, openLink, renewLink, setConfirmed, waitingFor } from './confirmation-rows.ts';

const LINK_SECONDS = 7 * 24 * 3_600;
/** Emails of one user in a day: new users must not send spam through this server. */
const MAX_PER_DAY = 100;
const DAILY = {
  action: 'alert.confirm_request',
  perDay: MAX_PER_DAY,
  message: `You reached the limit of ${MAX_PER_DAY} confirmation emails a day. Try again later.`,
} as const;
/** Wait until the next email to an address. */
const RETRY_SECONDS = 20 * 60;

export interface Confirmed {
  readonly organization: string;
  readonly email: string;
}

interface Sent {
  readonly link: PendingLink;
  /** False: the address has used up its emails, and this link is in no mailbox. */
  readonly isSent: boolean;
}

export class Confirmations {
  readonly #store: Store;
  readonly #outbox: Pick<Outbox, 'post'>;
  readonly #emailLimit: Pick<EmailLimit, 'take'>;

  constructor(deps: { store: Store; outbox: Pick<Outbox, 'post'>; emailLimit: Pick<EmailLimit, 'take'> }) {
    this.#store = deps.store;
    this.#outbox = deps.outbox;
    this.#emailLimit = deps.emailLimit;
  }

  /**
   * The link that a channel to this address waits for, with its email on the way; null: it needs none. `before`: the channel with the same id. Throws
   * `rate_limited`.
   */
  linkFor(
    tx: Tx,
    actor: UserActor,
    of: { to: string; ruleId: string; before: ChannelRow | undefined },
  ): PendingLink | null {
    const { to, ruleId, before } = of;
    const key = emailKey(to);
    if (before?.type === 'email' && emailKey(before.target) === key) return linkOf(before);
    if (isKnownAddress(tx.db, actor.orgId, key)) return null;
    return openLink(tx, actor.orgId, key) ?? this.#send(tx, actor, { to, ruleId }).link;
  }

  /** Sends the email of a waiting channel again; then the link before it ends. Throws `conflict` for one that does not wait, `rate_limited`. */
  resend(tx: Tx, actor: UserActor, { ruleId, target, confirmHash }: ChannelRow): void {
    if (confirmHash === null)
      throw new AppError('conflict', 'The address of this channel is confirmed already. Send a test.');
    const { link, isSent } = this.#send(tx, actor, { to: target, ruleId });
    // Without a new email, the link in the mailbox is the only one that its owner has.
    if (isSent) renewLink(tx, { orgId: actor.orgId, key: emailKey(target) }, link);
  }

  /** The caller has the token, and so the mailbox. Throws `not_found` alike for a token that never was, was used, or has expired. */
  confirm(token: string): Confirmed {
    return this.#store.inTx((tx) => {
      const hash = hashOf(token);
      const waiting = waitingFor(tx, hash);
      const [first] = waiting;
      if (first === undefined)
        throw new AppError('not_found', 'This link was used or has expired. Ask the sender for a new one.');
      setConfirmed(tx, hash);
      for (const ruleId of new Set(waiting.map((one) => one.ruleId))) {
        const entry = { action: 'alert.confirm', resourceType: 'alert', resourceId: ruleId } as const;
        recordAudit(tx, { kind: 'system', orgId: first.orgId }, { ...entry, details: { email: first.email } });
      }
      return { organization: first.organization, email: first.email };
    });
  }

  #send(tx: Tx, actor: UserActor, { to, ruleId }: { readonly to: string; readonly ruleId: string }): Sent {
    checkDailyLimit(tx, actor, DAILY);
    const key = emailKey(to);
    const isFree = [actor.userId, actor.orgId].every((from) => this.#emailLimit.take('confirmation', key, from));
    if (!isFree)
      throw new AppError('rate_limited', `${to} has got several confirmation emails already. Try again later.`, {
        retryAfterSeconds: RETRY_SECONDS,
      });
    const token = randomBytes(32).toString('base64url');
    const entry = { action: 'alert.confirm_request', resourceType: 'alert', resourceId: ruleId } as const;
    recordAudit(tx, actor, { ...entry, details: { email: to } });
    // What others have sent there is not this member's doing, nor their business: the channel waits, and its email is not sent.
    const isSent = this.#emailLimit.take('confirmations', key);
    if (isSent) {
      const organization = findOrg(tx.db, actor.orgId)?.name ?? '';
      this.#outbox.post(tx, { kind: 'alert_confirm', to, token, organization, by: actor.email }, LINK_SECONDS);
    }
    return { link: { confirmHash: hashOf(token), confirmUntil: tx.now + LINK_SECONDS * 1_000 }, isSent };
  }
}

function linkOf({ confirmHash, confirmUntil }: ChannelRow): PendingLink | null {
  return confirmHash === null || confirmUntil === null ? null : { confirmHash, confirmUntil };
}
