/** The rows of the table of limits about custom domains. */
import { fill, type Filling } from './fillers.ts';
import { elsewhere, met, type Row } from './row.ts';
import { type LimitFixture, valueIn } from './fixture.ts';
import { said } from '../../../src/control/core/testing/team.ts';

const INVALID = [400, 'invalid_domain'];

const add = async (w: LimitFixture, domain: string) => w.caller().call('POST', '/domains', { domain });
/** A domain of this length, 204 or more: a hundred labels, one as long as it takes, and `io`. */
const long = (length: number) => `${'l.'.repeat(100)}${'l'.repeat(length - 203)}.io`;

export function domainLimits(): readonly Row[] {
  return [
    met<string>({
      limit: 'Custom `domain`',
      value: '2 or more labels, 235 characters',
      meet: async (w, domain) => valueIn(await add(w, domain), (body) => String(body['domain']).length),
      below: [
        ['example', INVALID],
        [long(234), 234],
      ],
      at: [
        ['a.io', 4],
        [long(235), 235],
      ],
      above: [[long(236), INVALID]],
    }),
    met<Filling>({
      limit: 'Custom domains per organization',
      value: '100; 200 new ones per user in 24 hours',
      meet: async (w, filling) => {
        fill(w, 'domain', filling);
        return said(await add(w, 'more.example.net'));
      },
      below: [
        [['live', 98], [201]],
        [['today', 198], [201]],
      ],
      at: [
        [['live', 99], [201]],
        [['today', 199], [201]],
      ],
      above: [
        [
          ['live', 100],
          [409, 'conflict'],
        ],
        [
          ['today', 200],
          [429, 'rate_limited'],
        ],
      ],
    }),
    elsewhere('TXT record of a verified domain', 'checked daily; unverified after 3 days without it', [
      'src/control/domains/checks.test.ts',
      'a domain whose record is gone for three days is unverified, unbound, and its owners hear of it',
    ]),
  ];
}
