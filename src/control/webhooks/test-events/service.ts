/**
 * Test events: what the sender of a receiver would send, signed with the receiver's secret. They take the way of real deliveries from the
 * check of the signature on, and are marked. They say nothing about the sender: its counters and warnings stay as they are. Tried once, they hold
 * up no real delivery.
 */
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../../base/errors.ts';
import type { Waits } from '../../../base/limits/waits.ts';
import { testEvent, testTypesOf } from '../../../signatures/test-events/test-events.ts';
import { describe, findFault } from '../../../signatures/validators.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { checkDailyLimit } from '../../core/rules/daily-limit.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import type { Store } from '../../db/tx.ts';
import { type Arriving, type Delivered, storeDelivery, wholeDelivery } from '../delivery-rows.ts';
import { destinationOf, putInLine } from '../forward-rows.ts';
import type { Lines } from '../forwarder.ts';
import { openSecrets, ownReceiver, type ReceiverRow } from '../receiver-rows.ts';

/** Test events of one user, in any 24 hours. */
export const TESTS_PER_DAY = 500;

export interface TestEventDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly lines: Lines;
  /** Readers of the mailbox, by receiver. */
  readonly waits: Pick<Waits, 'wake'>;
}

export interface AskedTest {
  /** Undefined: the usual one of the sender. */
  readonly type: string | undefined;
  /** Of the receiver: some senders sign it. */
  readonly url: string;
}

export class TestEvents {
  readonly #deps: TestEventDeps;

  constructor(deps: TestEventDeps) {
    this.#deps = deps;
  }

  /** Stores one, and queues it where the receiver forwards. Throws `not_found`, `conflict`, `invalid_request`, `rate_limited`, `forbidden`. */
  send(actor: Actor, id: string, asked: AskedTest): Delivered {
    allow(actor, 'change', 'webhook_receiver');
    const { store, lines, waits } = this.#deps;
    return store.inTx((tx) => {
      const receiver = ownReceiver(tx.db, actor.orgId, id);
      const { orgId, validator } = receiver;
      const message = `You reached the limit of ${TESTS_PER_DAY} test events a day. Try again later.`;
      checkDailyLimit(tx, actor, { action: 'webhook_receiver.test', perDay: TESTS_PER_DAY, message });
      const incoming = this.#make(receiver, asked, tx.now);
      const { eventType, deliveryId } = describe(validator, incoming);
      const sequence = storeDelivery(tx, receiver, { incoming, eventType, deliveryId, refused: 0, isTest: true });
      recordAudit(tx, actor, {
        action: 'webhook_receiver.test',
        resourceType: 'webhook_receiver',
        resourceId: receiver.id,
        details: { name: receiver.name, type: eventType ?? asked.type ?? '' },
      });
      tx.onCommit(() => waits.wake(receiver.id));
      if (destinationOf(receiver) !== null) {
        putInLine(tx, receiver.id, { of: sequence, isTest: true });
        tx.onCommit(() => lines.ready({ receiverId: receiver.id, orgId }));
      }
      return wholeDelivery(tx.db, receiver.id, sequence);
    });
  }

  #make(receiver: ReceiverRow, { type, url }: AskedTest, now: number): Arriving {
    const { validator } = receiver;
    const secrets = openSecrets(this.#deps.sealer, receiver);
    const [secret = ''] = secrets;
    const types = testTypesOf(validator, secret);
    const [usual] = types;
    if (usual === undefined) throw unsigned();
    const event = testEvent(validator, type ?? usual, { secret, now, url, id: uuidv7() });
    if (event === undefined) throw unknownType(types);
    const incoming = { ...event, url, remoteIp: TEST_SENDER };
    const fault = findFault(validator, incoming, { secrets, now });
    if (fault !== null) throw new Error(`a test event of ${validator} is not signed as one: ${fault}`);
    return incoming;
  }
}

/** No address of a sender: rules of the tunnel about addresses can block it, and none that allows some lets it pass. */
const TEST_SENDER = '0.0.0.0';

function unsigned(): AppError {
  return new AppError(
    'conflict',
    "This server has only the sender's public key, so it can't sign a test event. Send a test from the sender's own page.",
  );
}

function unknownType(types: readonly string[]): AppError {
  const message = `must be one of ${types.join(', ')}`;
  return new AppError('invalid_request', `The sender has no test event of this type: it ${message}.`, {
    details: [{ path: 'type', message }],
  });
}
