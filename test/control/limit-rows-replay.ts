/** The rows of the table of limits about requests that are sent again. */
import { elsewhere, type Row } from './limit-row.ts';

export function replayLimits(): readonly Row[] {
  return [
    elsewhere(
      'Requests that an organization sends again',
      '60 at once, then one per second; 8 under way and never more than are free, 32 of all organizations',
      ['replay.test.ts', '60 at once, then one per second; other organizations are not held up'],
      ['replay.test.ts', '8 under way at a time'],
      [
        '../../src/base/shares.test.ts',
        'nobody has more than are free, so that who comes late finds one; at the bound nobody does',
      ],
    ),
    elsewhere('Headers changed in a request that is sent again', 'at most 100', [
      'replay.test.ts',
      'at most 100 headers may be changed',
    ]),
    elsewhere(
      'Requests that the server itself sends down tunnels',
      '8 of a tunnel, 64 of a data node, 32 of those for what is sent again; a replay beyond is refused (503), a webhook waits',
      [
        '../../src/data/edge/tunnel-request.test.ts',
        'eight at a time go to one tunnel, the others hear at once that it is too much',
      ],
      [
        '../../src/data/edge/tunnel-request-places.test.ts',
        'replays that hang take half of the places, and webhooks of others go on',
      ],
    ),
  ];
}
