/** The rows of the table of limits about the webhook mailbox. */
import { fill, type Filling } from './fillers.ts';
import { elsewhere, met, type Row } from './row.ts';
import { recordAll } from '../../../src/control/core/rules/audit.ts';
import { said } from '../../../src/control/core/testing/team.ts';

export function webhookLimits(): readonly Row[] {
  return [
    met<Filling>({
      limit: 'Webhook receivers per organization',
      value: '50; 200 new ones per user in 24 hours',
      meet: async (w, filling) => {
        fill(w, 'webhook_receiver', filling);
        return said(
          await w.caller().call('POST', '/webhook-receivers', { name: 'more', validator: 'github', secret: 'x' }),
        );
      },
      below: [
        [['live', 48], [201]],
        [['today', 198], [201]],
      ],
      at: [
        [['live', 49], [201]],
        [['today', 199], [201]],
      ],
      above: [
        [
          ['live', 50],
          [409, 'conflict'],
        ],
        [
          ['today', 200],
          [429, 'rate_limited'],
        ],
      ],
    }),
    elsewhere('Deliveries per receiver', '10,000 and 32 MiB; then the oldest are deleted', [
      'src/control/webhooks/service.test.ts',
      'beyond its number or its bytes the oldest deliveries of a receiver go, and are counted',
    ]),
    elsewhere('Deliveries per organization', '256 MiB; then the oldest of the largest receiver are deleted', [
      'src/control/webhooks/service.test.ts',
      'all receivers of an organization together keep so much: the oldest of the fullest goes',
    ]),
    elsewhere(
      'Waiting readers (`wait`)',
      '16 per receiver, 100 per organization, 500 in total; more return immediately',
      ['src/control/webhooks/service.test.ts', 'only so many wait at once: the next is answered without'],
      ['src/control/webhooks/service.test.ts', 'of one organization only so many wait, and the others still do'],
    ),
    elsewhere(
      'Deliveries being forwarded',
      '1 per receiver, 4 per organization, 32 in total; others wait',
      ['src/control/webhooks/forwarder.test.ts', 'one at a time and in order: the next when the one before is done'],
      [
        'src/control/webhooks/forwarder.test.ts',
        'an organization has four places and never more than are free, and all together thirty-two',
      ],
    ),
    elsewhere(
      'Attempts per delivery',
      '29 in one day; the last 20 are listed',
      [
        'src/control/webhooks/forwarder.test.ts',
        'what fails is tried later and later for a day, holds up those behind it, and is given up',
      ],
      [
        'src/control/webhooks/attempts/service.test.ts',
        'attempts: the last ones of a delivery are kept, and the last bodies of a receiver',
      ],
    ),
    elsewhere('Response bodies of attempts', '2,048 bytes each, the last 500 of a receiver', [
      'src/control/webhooks/attempts/service.test.ts',
      'attempts: the last ones of a delivery are kept, and the last bodies of a receiver',
    ]),
    elsewhere('Redelivery of a time range', '1,000 deliveries per call', [
      'src/control/webhooks/attempts/redelivery.test.ts',
      'redelivery: before newer ones that wait; at most so many at once, and then on from there',
    ]),
    met<number>({
      limit: 'Test events',
      value: '500 per user in 24 hours',
      meet: async (w, sent) => {
        const caller = w.caller();
        const receiver = { name: 'orders', validator: 'github', secret: 'x' };
        const id = String((await caller.call('POST', '/webhook-receivers', receiver)).body['id']);
        const entry = { action: 'webhook_receiver.test', resourceType: 'webhook_receiver', resourceId: id } as const;
        w.plane.control.store.inTx((tx) =>
          recordAll(
            tx,
            caller.actor,
            Array.from({ length: sent }, () => entry),
          ),
        );
        return said(await caller.call('POST', `/webhook-receivers/${id}/test`));
      },
      below: [[498, [202]]],
      at: [[499, [202]]],
      above: [[500, [429, 'rate_limited']]],
    }),
    elsewhere('`forward.path` of a webhook receiver', '1,024 characters', [
      'src/control/webhooks/forwarder.test.ts',
      'only to a tunnel of the organization that speaks HTTP, and to a path',
    ]),
    elsewhere('Retention of deliveries', '7, 30, 90 or 365 days by plan', [
      'src/control/webhooks/service.test.ts',
      'deliveries are kept for as long as the plan keeps requests, and the counters follow',
    ]),
    elsewhere('Counters of rejected deliveries', 'saved every 10 seconds, for at most 10,000 receivers', [
      'src/control/webhooks/refusals.test.ts',
      'of more receivers than have room nothing is counted until some are written down',
    ]),
    elsewhere('Age of a Slack or Stripe signature', '300 seconds in either direction', [
      'src/control/webhooks/service.test.ts',
      'stripe: as its own library signs, with its tolerance, and while a secret is rolled',
    ]),
    elsewhere('Secrets of `--webhook-verify`', '4', [
      'src/cli/agent/narrowing/webhook.test.ts',
      'webhook verification: four secrets at most',
    ]),
    elsewhere('Body of a request that `--webhook-verify` checks', '1 MiB', [
      'src/data/policy/webhook/webhook-verify.test.ts',
      'webhook verification: up to 1 MiB, and its sender may wait for 100 Continue',
    ]),
    elsewhere(
      'Bodies that wait for the check',
      '8 MiB per address, 32 MiB per organization, 64 MiB in total; more get 503',
      [
        'src/data/edge/exchange/body-room.test.ts',
        'body room: an organization gets its share, an address a smaller one, and what is given back is free again',
      ],
    ),
  ];
}
