/** The rows of the table of limits about alerts. */
import { recordAll } from '../../../src/control/core/rules/audit.ts';
import { said } from '../../../src/control/core/testing/team.ts';
import { elsewhere, met, type Row } from './row.ts';

const RULE = {
  kind: 'tunnel_offline',
  scope: {},
  for_minutes: 5,
  channels: [{ type: 'email', to: 'ops@example.test' }],
};

export function alertLimits(): readonly Row[] {
  return [
    met<number>({
      limit: 'Rules per organization',
      value: '50, each with up to 10 channels; 200 new ones per user in 24 hours',
      meet: async (w, made) => {
        const caller = w.caller();
        const entry = { action: 'alert.create', resourceType: 'alert', resourceId: 'gone' } as const;
        w.plane.control.store.inTx((tx) =>
          recordAll(
            tx,
            caller.actor,
            Array.from({ length: made }, () => entry),
          ),
        );
        return said(await caller.call('POST', '/alerts', RULE));
      },
      below: [[198, [201]]],
      at: [[199, [201]]],
      above: [[200, [429, 'rate_limited']]],
    }),
    elsewhere(
      'Confirmation emails of alert addresses',
      '100 per user in 24 hours; to one address 5 in a row per organization, then 1 every 20 minutes',
      [
        'src/control/attention/alerts/channels/confirmations.test.ts',
        'alert addresses: emails to one address are bounded, per organization and in a day',
      ],
    ),
    elsewhere('Confirmation link of an alert address', '7 days, single use', [
      'src/control/attention/alerts/channels/confirmations.test.ts',
      'alert addresses: a link ends after a week, and when another one is sent; only members ask for one',
    ]),
    elsewhere('Messages of a rule', '12 per hour; later ones go out together', [
      'src/control/attention/alerts/evaluator.test.ts',
      'alerts: a rule that flaps sends twelve messages an hour, and the rest together',
    ]),
    met<number>({
      limit: 'Tests per user',
      value: '100 in 24 hours',
      meet: async (w, sent) => {
        const caller = w.caller();
        const id = String((await caller.call('POST', '/alerts', RULE)).body['id']);
        const entry = { action: 'alert.test', resourceType: 'alert', resourceId: id } as const;
        w.plane.control.store.inTx((tx) =>
          recordAll(
            tx,
            caller.actor,
            Array.from({ length: sent }, () => entry),
          ),
        );
        return said(await caller.call('POST', `/alerts/${id}/test`));
      },
      below: [[98, [200]]],
      at: [[99, [200]]],
      above: [[100, [429, 'rate_limited']]],
    }),
  ];
}
