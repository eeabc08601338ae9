/** The rows of the table of limits about metrics and connections. */
import { fill, type Filling } from './limit-fillers.ts';
import { elsewhere, met, type Row } from './limit-row.ts';
import { said } from './team.ts';

export function metricLimits(): readonly Row[] {
  return [
    met<Filling>({
      limit: 'Keys for scrapers of an organization',
      value: '50, and 200 made by one person in 24 hours',
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
    elsewhere('Reason of a disconnect', 'at most 200 characters', [
      'connections.test.ts',
      'a reason that is too long, or would steer a terminal, is refused and nobody is cut',
    ]),
    elsewhere('Ended sessions of agents that are listed', '100 of an organization, for 30 days; then the oldest go', [
      'connections.test.ts',
      'a hundred ended sessions of an organization are kept, for 30 days',
    ]),
  ];
}
