/**
 * Webhook receivers as people handle them: a public URL, how its sender signs, and the secret that both share. Called by control/api. What
 * comes in is mailbox.ts's.
 */
import { eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../../base/errors.ts';
import { webhookDeliveries, webhookReceivers } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { type Actor, allow, type UserActor } from '../actor.ts';
import { type AuditAction, type DeedDetails, recordDeed } from '../audit.ts';
import { checkDeedLimit } from '../deed-limit.ts';
import type { Sealer } from '../keys/sealing.ts';
import { ownReceiver, type ReceiverRow, receiversOf, sealSecret } from './receiver-rows.ts';
import type { Validator } from './validators.ts';

/** Of one organization: each may fill its share of the disk. */
export const MAX_RECEIVERS = 50;
/** Receivers that one person makes in a day, those deleted again too. */
const MAX_PER_DAY = 200;

export interface NewReceiver {
  readonly name: string;
  readonly validator: Validator;
  readonly secret: string;
}

export class Receivers {
  readonly #store: Store;
  readonly #sealer: Sealer;

  constructor(deps: { store: Store; sealer: Sealer }) {
    this.#store = deps.store;
    this.#sealer = deps.sealer;
  }

  /** Of the actor's organization, oldest first. */
  list(actor: Actor): readonly ReceiverRow[] {
    allow(actor, 'read', 'webhook_receiver');
    return receiversOf(this.#store.db, actor.orgId);
  }

  /** Throws `not_found`. */
  get(actor: Actor, id: string): ReceiverRow {
    allow(actor, 'read', 'webhook_receiver');
    return ownReceiver(this.#store.db, actor.orgId, id);
  }

  /** Throws `conflict` beyond the bound, `rate_limited`, `forbidden`. */
  create(actor: Actor, { name, validator, secret }: NewReceiver): ReceiverRow {
    allow(actor, 'create', 'webhook_receiver');
    return this.#store.inTx((tx) => {
      if (receiversOf(tx.db, actor.orgId).length >= MAX_RECEIVERS) {
        throw new AppError('conflict', `Your organization has ${MAX_RECEIVERS} webhook receivers. Delete one first.`);
      }
      const message = `You made ${MAX_PER_DAY} webhook receivers in a day. Wait before you make another one.`;
      checkDeedLimit(tx, actor, { action: 'webhook_receiver.create', perDay: MAX_PER_DAY, message });
      const id = uuidv7();
      const row: ReceiverRow = {
        id,
        orgId: actor.orgId,
        name,
        validator,
        sealedSecret: sealSecret(this.#sealer, id, secret),
        createdAt: tx.now,
        updatedAt: tx.now,
        storedBytes: 0,
        storedCount: 0,
        received: 0,
        displaced: 0,
        lastReceivedAt: null,
        forwardTunnelId: null,
        forwardPath: null,
      };
      tx.db.insert(webhookReceivers).values(row).run();
      record(tx, actor, { action: 'webhook_receiver.create', row, details: { name, validator } });
      return row;
    });
  }

  /** From the next delivery on. What is not given stays. Throws `not_found`, `forbidden`. */
  update(actor: Actor, id: string, changes: Partial<NewReceiver>): ReceiverRow {
    allow(actor, 'change', 'webhook_receiver');
    const { name, validator, secret } = changes;
    return this.#store.inTx((tx) => {
      const before = ownReceiver(tx.db, actor.orgId, id);
      const row: ReceiverRow = {
        ...before,
        name: name ?? before.name,
        validator: validator ?? before.validator,
        sealedSecret: secret === undefined ? before.sealedSecret : sealSecret(this.#sealer, id, secret),
        updatedAt: tx.now,
      };
      tx.db.update(webhookReceivers).set(row).where(eq(webhookReceivers.id, id)).run();
      const details = {
        name: row.name,
        ...(row.validator === before.validator ? {} : { validator: row.validator }),
        ...(secret === undefined ? {} : { secret: 'changed' }),
      };
      record(tx, actor, { action: 'webhook_receiver.update', row, details });
      return row;
    });
  }

  /** With everything that was delivered to it. Throws `not_found`, `forbidden`. */
  delete(actor: Actor, id: string): void {
    allow(actor, 'delete', 'webhook_receiver');
    this.#store.inTx((tx) => remove(tx, actor, ownReceiver(tx.db, actor.orgId, id)));
  }

  /** Deletes every receiver of the actor's organization, which goes itself; whoever calls has checked that it may. */
  deleteAllIn(tx: Tx, actor: UserActor): void {
    for (const row of receiversOf(tx.db, actor.orgId)) remove(tx, actor, row);
  }
}

function remove(tx: Tx, actor: UserActor, row: ReceiverRow): void {
  tx.db.delete(webhookDeliveries).where(eq(webhookDeliveries.receiverId, row.id)).run();
  tx.db.delete(webhookReceivers).where(eq(webhookReceivers.id, row.id)).run();
  record(tx, actor, { action: 'webhook_receiver.delete', row, details: { name: row.name } });
}

function record(
  tx: Tx,
  actor: UserActor,
  { action, row, details }: { action: AuditAction; row: ReceiverRow; details: DeedDetails },
): void {
  recordDeed(tx, actor, { action, resourceType: 'webhook_receiver', resourceId: row.id, details });
}
