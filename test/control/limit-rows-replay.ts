/** The rows of the table of limits about requests that are sent again. */
import { elsewhere, type Row } from './limit-row.ts';

export function replayLimits(): readonly Row[] {
  return [
    elsewhere(
      'Requests that an organization sends again',
      '60 at once, then one per second; 8 under way',
      ['replay.test.ts', '60 at once, then one per second; other organizations are not held up'],
      ['replay.test.ts', '8 under way at a time'],
    ),
    elsewhere('Headers changed in a request that is sent again', 'at most 100', [
      'replay.test.ts',
      'at most 100 headers may be changed',
    ]),
    elsewhere(
      'Requests that the server itself sends down tunnels',
      '8 of a tunnel, 64 of a data node; more are answered with `overloaded`',
      [
        '../../src/data/edge/tunnel-request.test.ts',
        'eight at a time go to one tunnel, the others hear at once that it is too much',
      ],
    ),
  ];
}
