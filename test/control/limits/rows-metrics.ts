/** The rows of the table of limits about metrics and connections. */
import { fill, type Filling } from './fillers.ts';
import { elsewhere, met, type Row } from './row.ts';
import { said } from '../../../src/control/core/testing/team.ts';

export function metricLimits(): readonly Row[] {
  return [
    met<Filling>({
      limit: 'Metrics keys per organization',
      value: '50; 200 new ones per user in 24 hours',
      meet: async (w, filling) => {
        fill(w, 'metric_key', filling);
        return said(await w.caller().call('POST', '/metrics/keys', { name: 'more' }));
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
    elsewhere('Reason of a disconnect', '200 characters', [
      'src/control/tunnels/connections/service.test.ts',
      'a reason that is too long, or would steer a terminal, is refused and no agent is cut',
    ]),
    elsewhere('Ended agent sessions', '100 per organization, for 30 days', [
      'src/control/tunnels/connections/service.test.ts',
      'a hundred ended sessions of an organization are kept, for 30 days',
    ]),
  ];
}
