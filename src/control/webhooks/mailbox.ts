/**
 * What senders deliver to a receiver, and what its owners do with it: signed deliveries are kept in their order, read behind a cursor, and sent
 * on to a tunnel by forwarder.ts where the receiver says so.
 */
import { AppError } from '../../base/errors.ts';
import type { Reply } from '../../signatures/scheme.ts';
import { describe, findFault } from '../../signatures/validators.ts';
import type { Store } from '../db/tx.ts';
import { type Actor, allow } from '../core/rules/actor.ts';
import { recordAudit } from '../core/rules/audit.ts';
import type { Sealer } from '../core/secrets/sealing.ts';
import type { Waits } from '../../base/limits/waits.ts';
import {
  type Arriving,
  type Delivered,
  deliveriesBefore,
  deliveriesBehind,
  isKnown,
  type LatestPage,
  type StateFilter,
  ownDelivery,
  storeDelivery,
  wholeDelivery,
} from './delivery-rows.ts';
import { notForwarded } from './attempts/redelivery.ts';
import { type AttemptRow, attemptsOf } from './attempts/rows.ts';
import { destinationOf, putInFront, putInLine } from './forward-rows.ts';
import type { Lines } from './forwarder.ts';
import { challengeText, type HubQuery } from './senders/challenge.ts';
import { anyReceiver, openSecrets, ownReceiver, verifyTokenOf } from './receiver-rows.ts';
import type { Refusals } from './refusals.ts';

/** Requests that wait for a delivery: in all, and by receiver. */
export const READER_WAITS = { total: 500, perKey: 16 } as const;
const MAX_WAITS_PER_ORG = 100;

/** As the API shows it. */
export interface Shown extends Delivered {
  /** It is on its way to the tunnel now. */
  readonly isSending: boolean;
}

export interface Reading {
  /** Of the last delivery that the reader has; undefined: from the oldest on. */
  readonly after: string | undefined;
  readonly limit: number;
  /** Those in another state are passed over; undefined: none. */
  readonly state?: StateFilter | undefined;
  /** How long to wait for a delivery when there is none. */
  readonly waitSeconds: number;
  /** Fires when the reader has gone. */
  readonly gone: AbortSignal;
}

export class Mailbox {
  readonly #store: Store;
  readonly #sealer: Sealer;
  readonly #lines: Lines & { isSending(sequence: number): boolean };
  readonly #refusals: Pick<Refusals, 'count' | 'of'>;
  /** By receiver. */
  readonly #waits: Waits;
  /** How many of them are of one organization. */
  readonly #waitsOf = new Map<string, number>();

  constructor(deps: {
    store: Store;
    sealer: Sealer;
    lines: Lines & { isSending(sequence: number): boolean };
    refusals: Pick<Refusals, 'count' | 'of'>;
    waits: Waits;
  }) {
    this.#waits = deps.waits;
    this.#store = deps.store;
    this.#sealer = deps.sealer;
    this.#lines = deps.lines;
    this.#refusals = deps.refusals;
  }

  /**
   * Takes a delivery in once its signature is right; one that was taken in before is not stored again. Returns the response to the sender.
   * Throws `not_found`, `invalid_signature`, `conflict` for one that comes back.
   */
  receive(receiverId: string, incoming: Arriving): Reply {
    const { db, clock } = this.#store;
    const receiver = anyReceiver(db, receiverId);
    if (receiver === undefined) throw unknownReceiver();
    const secrets = openSecrets(this.#sealer, receiver);
    const fault = findFault(receiver.validator, incoming, { secrets, now: clock.now() });
    if (fault !== null) {
      this.#refusals.count(receiverId, fault);
      throw new AppError(
        'invalid_signature',
        'The signature is missing, wrong or too old. Check the secret and the validator of the receiver.',
      );
    }
    // Its service has handed it back, to here or to a mailbox that sends on to where it came from: it would go round for ever, and multiply.
    const sentOnBy = incoming.headers['culvert-webhook-receiver'];
    if (sentOnBy !== undefined && anyReceiver(db, sentOnBy) !== undefined) {
      this.#refusals.count(receiverId, 'came_back');
      throw new AppError(
        'conflict',
        'This server forwarded the delivery itself, and it came back. To send it as a new one, remove its Culvert-Webhook-… fields.',
      );
    }
    const { eventType, deliveryId, challenge, accepted } = describe(receiver.validator, incoming);
    if (challenge !== null) return challenge;
    this.#store.inTx((tx) => {
      if (deliveryId !== null && isKnown(tx.db, receiverId, deliveryId)) return;
      const refused = this.#refusals.of(receiverId).total;
      const sequence = storeDelivery(tx, receiver, { incoming, eventType, deliveryId, refused });
      tx.onCommit(() => this.#waits.wake(receiverId));
      if (destinationOf(receiver) === null) return;
      putInLine(tx, receiverId, { of: sequence });
      tx.onCommit(() => this.#lines.ready({ receiverId, orgId: receiver.orgId }));
    });
    return accepted;
  }

  /** The text with which a sender like Meta checks the address, once it shows the receiver's word. Throws `not_found`, `invalid_request`, `forbidden`. */
  challenge(receiverId: string, query: HubQuery): string {
    if (anyReceiver(this.#store.db, receiverId) === undefined) throw unknownReceiver();
    return challengeText(query, verifyTokenOf(this.#sealer, receiverId));
  }

  /** A body that was not even read, to this receiver if there is one: its owners hear of it. */
  refuseTooLarge(receiverId: string): void {
    if (anyReceiver(this.#store.db, receiverId) !== undefined) this.#refusals.count(receiverId, 'too_large');
  }

  /**
   * Oldest first, those behind `after`. An `after` that is gone itself stands for its place. Waits when there are none, unless too many wait
   * already; `reader` is asked again behind a wait, for they may have been removed meanwhile. Throws `not_found`, `invalid_request`, `forbidden`,
   * and what `reader` throws.
   */
  async read(reader: () => Actor, id: string, reading: Reading): Promise<Shown[]> {
    const read = (): Shown[] => this.#behind(reader(), id, reading);
    const found = read();
    if (found.length > 0 || reading.waitSeconds === 0) return found;
    await this.#wait(ownReceiver(this.#store.db, requireReader(reader()), id), reading);
    return reading.gone.aborted ? [] : read();
  }

  /** Newest first, those in front of `before`; one that is gone stands for its place. Throws `not_found`, `forbidden`. */
  latest(actor: Actor, id: string, page: LatestPage): Shown[] {
    const { db } = this.#store;
    const receiver = ownReceiver(db, requireReader(actor), id);
    return this.#shown(deliveriesBefore(db, receiver.id, page));
  }

  /** One, with its body. Throws `not_found`, `forbidden`. */
  get(actor: Actor, id: string, eventId: string): Shown {
    const { db } = this.#store;
    const receiver = ownReceiver(db, requireReader(actor), id);
    return this.#withPlace(wholeDelivery(db, receiver.id, eventId));
  }

  /** How it was tried, newest first. Throws `not_found`, `forbidden`. */
  attempts(actor: Actor, id: string, eventId: string): readonly AttemptRow[] {
    const { db } = this.#store;
    const receiver = ownReceiver(db, requireReader(actor), id);
    return attemptsOf(db, ownDelivery(db, receiver.id, eventId).sequence);
  }

  /** To the front of the line, as if it had never been tried. Throws `not_found`, `conflict` where nothing is sent on, `forbidden`. */
  redeliver(actor: Actor, id: string, eventId: string): void {
    allow(actor, 'change', 'webhook_receiver');
    this.#store.inTx((tx) => {
      const receiver = ownReceiver(tx.db, actor.orgId, id);
      const { sequence } = ownDelivery(tx.db, receiver.id, eventId);
      if (destinationOf(receiver) === null) throw notForwarded();
      putInFront(tx, receiver.id, sequence);
      const entry = { action: 'webhook_receiver.redeliver', resourceType: 'webhook_receiver' } as const;
      recordAudit(tx, actor, { ...entry, resourceId: receiver.id, details: { event: eventId } });
      tx.onCommit(() => {
        this.#lines.disregard(receiver.id, sequence);
        this.#lines.ready({ receiverId: receiver.id, orgId: receiver.orgId });
      });
    });
  }

  /** Answers all waiting requests, and holds none any more: the server stops. */
  endWaits(): void {
    this.#waits.end();
  }

  /** Requests that are held now. */
  get waiting(): number {
    return this.#waits.size;
  }

  #behind(actor: Actor, id: string, reading: Reading): Shown[] {
    const { db } = this.#store;
    const receiver = ownReceiver(db, requireReader(actor), id);
    return this.#shown(deliveriesBehind(db, receiver.id, reading));
  }

  #shown(all: readonly Delivered[]): Shown[] {
    return all.map((found) => this.#withPlace(found));
  }

  #withPlace(found: Delivered): Shown {
    const isSending = found.forward?.state === 'waiting' && this.#lines.isSending(found.delivery.sequence);
    return { ...found, isSending };
  }

  async #wait({ id, orgId }: { id: string; orgId: string }, { waitSeconds, gone }: Reading): Promise<void> {
    const others = this.#waitsOf.get(orgId) ?? 0;
    if (others >= MAX_WAITS_PER_ORG) return;
    this.#waitsOf.set(orgId, others + 1);
    await this.#waits.until(id, waitSeconds * 1000, gone);
    const left = (this.#waitsOf.get(orgId) ?? 1) - 1;
    if (left === 0) this.#waitsOf.delete(orgId);
    else this.#waitsOf.set(orgId, left);
  }
}

/** Nothing is at this URL, or not any more. */
export function unknownReceiver(): AppError {
  return new AppError('not_found', 'No webhook receiver has this URL. Copy the URL of the receiver again.');
}

/** The organization of the reader: a person of it, or an agent by its key (reader-keys.ts). Throws `forbidden`. */
function requireReader(actor: Actor): string {
  if (actor.kind === 'token') return actor.orgId;
  allow(actor, 'read', 'webhook_receiver');
  return actor.orgId;
}
