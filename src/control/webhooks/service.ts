/**
 * Webhook receivers as people handle them: a public URL, how its sender signs, the secret that both share, and the tunnel that deliveries are
 * sent on to. What comes in is mailbox.ts's.
 */
import { and, eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import type { WebhookKind } from '../../signatures/kinds.ts';
import { testTypesOf } from '../../signatures/test-events/test-events.ts';
import { secretProblem } from '../../signatures/validators.ts';
import { notGone } from '../db/gone.ts';
import { webhookReceivers } from '../db/schema.ts';
import type { Db, Store, Tx } from '../db/tx.ts';
import { type Actor, allow } from '../core/rules/actor.ts';
import { changesBetween, secretChange } from '../core/rules/audit-changes.ts';
import { auditOf } from '../core/rules/audit.ts';
import { checkRoom } from '../core/rules/daily-limit.ts';
import type { Sealer } from '../core/secrets/sealing.ts';
import type { Waits } from '../../base/limits/waits.ts';
import { labelOf, ownTunnel } from '../tunnels/rows.ts';
import {
  beginAnew,
  countFailed,
  countWaiting,
  type Destination,
  destinationOf,
  emptyLine,
  failingHead,
} from './forward-rows.ts';
import type { Lines } from './forwarder.ts';
import type { Drains } from '../core/drains.ts';
import { insertPending, type NewPendingWork, type PendingWork } from '../core/pending-rows.ts';
import { dropSome } from './delivery-rows.ts';
import {
  openSecrets,
  ownReceiver,
  type ReceiverRow,
  receiversOf,
  sealSecrets,
  verifyTokenOf,
} from './receiver-rows.ts';
import type { Refusals, Refused } from './refusals.ts';

/** Of one organization: each may fill its share of the disk. */
export const MAX_RECEIVERS = 50;
/** Receivers that one person makes in a day, those deleted again too. */
const MAX_PER_DAY = 200;
const ROOM = {
  action: 'webhook_receiver.create',
  most: MAX_RECEIVERS,
  perDay: MAX_PER_DAY,
  what: 'webhook receivers',
} as const;

export interface NewReceiver {
  readonly name: string;
  readonly validator: WebhookKind;
  /** Each of them holds: two while one replaces another. */
  readonly secrets: readonly string[];
  /** A tunnel of the same organization that speaks HTTP; null: deliveries are kept, no more. */
  readonly forward: Destination | null;
}

/** As the API shows it. */
export interface ShownReceiver extends ReceiverRow {
  /** Deliveries that wait to be sent on. */
  readonly waiting: number;
  /** Deliveries that were given up, of those that are kept. */
  readonly failed: number;
  /** What holds up the line; undefined: nothing. */
  readonly failing: ReturnType<typeof failingHead>;
  /** Types of test events that can be signed. */
  readonly testTypes: readonly string[];
  /** What was refused since the secret or the validator changed last. */
  readonly refused: Refused;
  readonly verifyToken: string;
}

const record = auditOf('webhook_receiver');

export class Receivers {
  readonly #store: Store;
  readonly #sealer: Sealer;
  readonly #lines: Lines;
  readonly #refusals: Pick<Refusals, 'of' | 'forget'>;
  readonly #waits: Pick<Waits, 'wake'>;
  readonly #drains: Drains;

  /** `waits`: readers of the mailbox, by receiver. */
  constructor(deps: {
    store: Store;
    sealer: Sealer;
    lines: Lines;
    refusals: Pick<Refusals, 'of' | 'forget'>;
    waits: Pick<Waits, 'wake'>;
    drains: Drains;
  }) {
    this.#drains = deps.drains;
    this.#waits = deps.waits;
    this.#store = deps.store;
    this.#sealer = deps.sealer;
    this.#lines = deps.lines;
    this.#refusals = deps.refusals;
  }

  /** Of the actor's organization, oldest first. */
  list(actor: Actor): readonly ShownReceiver[] {
    allow(actor, 'read', 'webhook_receiver');
    return receiversOf(this.#store.db, actor.orgId).map((row) => this.#shown(row));
  }

  /** Throws `not_found`. */
  get(actor: Actor, id: string): ShownReceiver {
    allow(actor, 'read', 'webhook_receiver');
    return this.#shown(ownReceiver(this.#store.db, actor.orgId, id));
  }

  /** Throws `conflict` beyond the bound, `not_found` and `invalid_request` for a tunnel that can't be sent on to, `rate_limited`, `forbidden`. */
  create(actor: Actor, { name, validator, secrets, forward }: NewReceiver): ShownReceiver {
    allow(actor, 'create', 'webhook_receiver');
    const row = this.#store.inTx((tx) => {
      checkRoom(tx, actor, { ...ROOM, has: receiversOf(tx.db, actor.orgId).length });
      requireTunnel(tx, actor.orgId, forward);
      requireSecrets(validator, secrets);
      const id = uuidv7();
      const row: ReceiverRow = {
        id,
        orgId: actor.orgId,
        name,
        validator,
        sealedSecret: sealSecrets(this.#sealer, id, secrets),
        createdAt: tx.now,
        updatedAt: tx.now,
        storedBytes: 0,
        storedCount: 0,
        received: 0,
        displaced: 0,
        lastReceivedAt: null,
        refusedBefore: null,
        redeliveryKey: null,
        redeliveryCount: null,
        redeliveryMatched: null,
        redeliveryContinueFrom: null,
        ...columnsOf(forward),
      };
      tx.db.insert(webhookReceivers).values(row).run();
      record(tx, actor, {
        action: 'webhook_receiver.create',
        row,
        details: { name, validator, ...(forward === null ? {} : { forward: said(forward) }) },
      });
      return row;
    });
    return this.#shown(row);
  }

  /**
   * Name, validator and secret hold from the next delivery on; what is not given stays. Where `forward` changes, those that wait go to the new
   * place; where it is removed, no delivery waits any more. Another secret or validator counts what it refuses anew. Throws `not_found`, `invalid_request`, `forbidden`.
   */
  update(actor: Actor, id: string, changes: Partial<NewReceiver>): ShownReceiver {
    allow(actor, 'change', 'webhook_receiver');
    const { name, validator, secrets, forward } = changes;
    const row = this.#store.inTx((tx) => {
      const before = ownReceiver(tx.db, actor.orgId, id);
      const leads = destinationOf(before);
      const isElsewhere = forward !== undefined && said(forward) !== said(leads);
      const isSignedAnew = secrets !== undefined || (validator !== undefined && validator !== before.validator);
      const row: ReceiverRow = {
        ...before,
        name: name ?? before.name,
        validator: validator ?? before.validator,
        refusedBefore: isSignedAnew ? null : before.refusedBefore,
        sealedSecret: secrets === undefined ? before.sealedSecret : sealSecrets(this.#sealer, id, secrets),
        updatedAt: tx.now,
        ...(forward === undefined ? {} : columnsOf(forward)),
      };
      if (isSignedAnew) requireSecrets(row.validator, openSecrets(this.#sealer, row));
      tx.db.update(webhookReceivers).set(row).where(eq(webhookReceivers.id, id)).run();
      if (forward !== undefined && isElsewhere) this.#lead(tx, row, forward);
      if (isSignedAnew) this.#refusals.forget(tx, id);
      const changed = [
        ...changesBetween(fieldsOf(tx.db, before), fieldsOf(tx.db, row)),
        ...(secrets === undefined ? [] : [secretChange('secret')]),
      ];
      record(tx, actor, { action: 'webhook_receiver.update', row, details: { name: row.name }, changes: changed });
      return row;
    });
    return this.#shown(row);
  }

  /** With everything that was delivered to it. Throws `not_found`, `forbidden`. */
  delete(actor: Actor, id: string): void {
    allow(actor, 'delete', 'webhook_receiver');
    this.#store.inTx((tx) => {
      this.#drains.begin(tx, this.#letGo(tx, actor, ownReceiver(tx.db, actor.orgId, id)));
    });
  }

  /** Each receiver of an organization that was deleted goes by itself. A Drain. */
  drainOrganization(tx: Tx, { scope, actor }: PendingWork, limit: number): number {
    const rows = tx.db
      .select()
      .from(webhookReceivers)
      .where(and(eq(webhookReceivers.orgId, scope), notGone(webhookReceivers.id)))
      .limit(limit)
      .all();
    for (const row of rows) insertPending(tx, this.#letGo(tx, actor, row));
    return rows.length;
  }

  /** The deliveries of a receiver that was deleted, and then itself. A Drain. */
  drain(tx: Tx, { scope }: PendingWork, limit: number): number {
    const dropped = dropSome(tx, scope, limit);
    if (dropped === limit) return dropped;
    return dropped + tx.db.delete(webhookReceivers).where(eq(webhookReceivers.id, scope)).run().changes;
  }

  #shown(row: ReceiverRow): ShownReceiver {
    return {
      ...row,
      waiting: countWaiting(this.#store.db, row.id),
      failed: countFailed(this.#store.db, row.id),
      failing: failingHead(this.#store.db, row.id),
      testTypes: testTypesOf(row.validator, openSecrets(this.#sealer, row)[0] ?? ''),
      refused: this.#refusals.of(row.id),
      verifyToken: verifyTokenOf(this.#sealer, row.id),
    };
  }

  /** Returns what is left to do. */
  #letGo(tx: Tx, actor: Actor, row: ReceiverRow): NewPendingWork {
    this.#refusals.forget(tx, row.id);
    record(tx, actor, { action: 'webhook_receiver.delete', row, details: { name: row.name } });
    // Who waits there hears that it is gone.
    tx.onCommit(() => this.#waits.wake(row.id));
    return { kind: 'receiver_deleted', scope: row.id, orgId: row.orgId, actor };
  }

  #lead(tx: Tx, { id: receiverId, orgId }: ReceiverRow, forward: Destination | null): void {
    requireTunnel(tx, orgId, forward);
    if (forward === null) emptyLine(tx, receiverId);
    else beginAnew(tx, receiverId);
    tx.onCommit(() => {
      this.#lines.disregard(receiverId);
      this.#lines.ready({ receiverId, orgId });
    });
  }
}

/** Throws `not_found`, `invalid_request`. */
function requireTunnel(tx: Tx, orgId: string, forward: Destination | null): void {
  if (forward === null || ownTunnel(tx.db, orgId, forward.tunnelId).protocol !== 'tcp') return;
  const why = 'A tcp tunnel does not accept HTTP requests. Choose a tunnel of another protocol.';
  throw new AppError('invalid_request', why, { details: [{ path: 'forward.tunnel_id', message: why }] });
}

/** Throws `invalid_request` for a secret that can be none of this sender: no delivery would ever be right. */
function requireSecrets(validator: WebhookKind, secrets: readonly string[]): void {
  const why = secrets.map((secret) => secretProblem(validator, secret)).find((found) => found !== null);
  if (why === undefined || why === null) return;
  throw new AppError('invalid_request', `The secret ${why}. Copy it from the sender again.`, {
    details: [{ path: 'secret', message: why }],
  });
}

function columnsOf(forward: Destination | null): Pick<ReceiverRow, 'forwardTunnelId' | 'forwardPath'> {
  return { forwardTunnelId: forward?.tunnelId ?? null, forwardPath: forward?.path ?? null };
}

/** For the audit log, by the names of the API. */
function fieldsOf(db: Db, row: ReceiverRow) {
  const { name, validator } = row;
  const forward = destinationOf(row);
  const label = labelOf(db, forward?.tunnelId ?? null);
  return { name, validator, forward: forward === null ? null : `${label ?? forward.tunnelId} ${forward.path}` };
}

function said(forward: Destination | null): string {
  return forward === null ? 'off' : `${forward.tunnelId} ${forward.path}`;
}
