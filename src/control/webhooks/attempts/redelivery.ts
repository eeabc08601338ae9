/** Redelivery of a time range: what failed while a service was broken goes to it once more, in order, by one call. */
import { AppError } from '../../../base/errors.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import type { Store } from '../../db/tx.ts';
import { destinationOf } from '../forward-rows.ts';
import type { Lines } from '../forwarder.ts';
import { ownReceiver, type ReceiverRow } from '../receiver-rows.ts';
import {
  countInRange,
  firstInRange,
  MAX_REDELIVERED,
  noteRedelivery,
  queueAgain,
  type Range,
} from './redelivery-rows.ts';

export interface RangeInput extends Omit<Range, 'receiverId' | 'to'> {
  /** Undefined: now. */
  readonly to: number | undefined;
  /** Count them, and do nothing. */
  readonly isDryRun: boolean;
  /** Of the caller's choice: the receiver's last call, if it had the same one, is not done again. Undefined: none. */
  readonly key: string | undefined;
}

export interface Redelivered {
  /** In the range and the state. */
  readonly matched: number;
  readonly queued: number;
  /** Where the next call begins, milliseconds; null: all were queued. */
  readonly continueFrom: number | null;
}

export class Redeliveries {
  readonly #store: Store;
  readonly #lines: Lines;

  constructor(deps: { store: Store; lines: Lines }) {
    this.#store = deps.store;
    this.#lines = deps.lines;
  }

  /** Throws `not_found`, `conflict` where nothing is forwarded, `forbidden`. */
  redeliver(actor: Actor, id: string, { to, isDryRun, key, ...input }: RangeInput): Redelivered {
    allow(actor, 'change', 'webhook_receiver');
    return this.#store.inTx((tx) => {
      const receiver = ownReceiver(tx.db, actor.orgId, id);
      const { id: receiverId, orgId } = receiver;
      const range = { ...input, receiverId, to: to ?? tx.now };
      if (destinationOf(receiver) === null) throw notForwarded();
      if (isDryRun) return { matched: countInRange(tx.db, range), queued: 0, continueFrom: null };
      if (key !== undefined && key === receiver.redeliveryKey) return answerBefore(receiver);
      const matched = countInRange(tx.db, range);
      const rows = firstInRange(tx.db, range);
      const going = rows.slice(0, MAX_REDELIVERED).map(({ sequence }) => sequence);
      queueAgain(tx, receiverId, going);
      const done = { matched, queued: going.length, continueFrom: rows[MAX_REDELIVERED]?.receivedAt ?? null };
      if (key !== undefined) noteRedelivery(tx, receiverId, { key, ...done });
      const entry = { action: 'webhook_receiver.redeliver', resourceType: 'webhook_receiver' } as const;
      const details = { from: text(range.from), to: text(range.to), state: range.state, count: going.length };
      recordAudit(tx, actor, { ...entry, resourceId: receiverId, details });
      if (going.length > 0) tx.onCommit(() => this.#lines.ready({ receiverId, orgId }));
      return done;
    });
  }
}

/** Response of the call with the same key. */
function answerBefore({ redeliveryCount, redeliveryMatched, redeliveryContinueFrom }: ReceiverRow): Redelivered {
  const queued = redeliveryCount ?? 0;
  return { matched: redeliveryMatched ?? queued, queued, continueFrom: redeliveryContinueFrom };
}

/** A receiver without a tunnel has no place to send to. */
export function notForwarded(): AppError {
  return new AppError(
    'conflict',
    'The receiver has no forwarding. Set it up first: `forward` of the receiver, or culvert webhooks forward.',
  );
}

function text(ms: number): string {
  return new Date(ms).toISOString();
}
