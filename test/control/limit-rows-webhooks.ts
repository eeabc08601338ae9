/** The rows of the table of limits about the webhook mailbox. */
import { fill, type Filling } from './limit-fillers.ts';
import { elsewhere, met, type Row } from './limit-row.ts';
import { said } from './team.ts';

export function webhookLimits(): readonly Row[] {
  return [
    met<Filling>({
      limit: 'Webhook receivers of an organization',
      value: '50, and 200 made by one person in 24 hours',
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
    elsewhere('Deliveries that a webhook receiver keeps', '10,000 and 32 MiB; then the oldest go', [
      'webhooks.test.ts',
      'beyond its number or its bytes the oldest deliveries of a receiver go, and are counted',
    ]),
    elsewhere('Deliveries of all receivers of an organization', '256 MiB; then the oldest of the fullest go', [
      'webhooks.test.ts',
      'all receivers of an organization together keep so much: the oldest of the fullest goes',
    ]),
    elsewhere(
      'Readers that wait for a delivery',
      '16 of a receiver, 100 of an organization, 500 in all; the next is answered at once',
      ['webhooks.test.ts', 'only so many wait at once: the next is answered without'],
      ['webhooks.test.ts', 'of one organization only so many wait, and the others still do'],
    ),
    elsewhere(
      'Deliveries on their way to tunnels',
      'one of a receiver, 4 of an organization and never more than are free, 32 in all; the others wait',
      ['webhook-forwards.test.ts', 'one at a time and in order: the next when the one before is done'],
      [
        'webhook-forwards.test.ts',
        'an organization has four places and never more than are free, and all together thirty-two',
      ],
    ),
    elsewhere('Tries of a delivery that is sent on', '29 in a day, then it has failed', [
      'webhook-forwards.test.ts',
      'what fails is tried later and later for a day, holds up those behind it, and is given up',
    ]),
    elsewhere('`forward.path` of a webhook receiver', 'at most 1,024 characters', [
      'webhook-forwards.test.ts',
      'only to a tunnel of the organization that speaks HTTP, and to a path',
    ]),
    elsewhere('Retention of deliveries', '7, 30, 90 and 365 days by plan', [
      'webhooks.test.ts',
      'deliveries are kept for as long as the plan keeps requests, and the counters follow',
    ]),
    elsewhere(
      'Counts of refused deliveries',
      'written down each 10 s, those of 500 receivers; 10,000 receivers wait for that, and one more is not counted',
      ['webhook-refusals.test.ts', 'of more receivers than have room nothing is counted until some are written down'],
    ),
    elsewhere('Age of a Slack or Stripe signature', '300 s, before or behind', [
      'webhooks.test.ts',
      'stripe: as its own library signs, with its tolerance, and while a secret is rolled',
    ]),
  ];
}
