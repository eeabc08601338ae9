/** The rows of the table of limits about requests that are sent again. */
import { elsewhere, type Row } from './row.ts';

export function replayLimits(): readonly Row[] {
  return [
    elsewhere(
      'Replays',
      '60 at once, then 1 per second; 8 running per organization, 32 in total',
      [
        'src/control/inspector/replay/service.test.ts',
        '60 at once, then one per second; other organizations are not held up',
      ],
      ['src/control/inspector/replay/service.test.ts', '8 under way at a time'],
      [
        'src/base/limits/shares.test.ts',
        'shares: no party holds more than are free, so that a late one finds a place; none does at the bound',
      ],
    ),
    elsewhere('Headers changed by a replay', '100', [
      'src/control/inspector/replay/service.test.ts',
      'at most 100 headers may be changed',
    ]),
    elsewhere(
      'Replays and webhooks in flight',
      '8 per tunnel, 64 per server, of which 32 are replays',
      [
        'src/data/edge/server-requests/tunnel-request.test.ts',
        'eight at a time go to one tunnel, the others hear at once that it is too much',
      ],
      [
        'src/data/edge/server-requests/tunnel-request-places.test.ts',
        'replays that hang take half of the places, and webhooks of others go on',
      ],
    ),
  ];
}
