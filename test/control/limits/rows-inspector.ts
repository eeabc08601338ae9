/** The rows of the table of limits about recorded requests and their live feed. */
import { recorded } from '../../../src/control/inspector/testing.ts';
import { elsewhere, met, type Row } from './row.ts';
import { type LimitFixture, valueIn } from './fixture.ts';

/** Of more records than any list has: how many are shown. */
async function listed(w: LimitFixture, limit: unknown): Promise<unknown> {
  const caller = w.caller();
  const tunnel = await caller.done('POST', '/tunnels', { localPort: 3000 });
  const one = () => recorded({ orgId: caller.actor.orgId, tunnelId: String(tunnel['id']) });
  await w.plane.control.link.inspect({ records: Array.from({ length: 510 }, one), unrecorded: [] });
  const query = limit === undefined ? '' : `?limit=${String(limit)}`;
  return valueIn(await caller.call('GET', `/inspector${query}`), (body) => (body as unknown as unknown[]).length);
}

export function inspectorLimits(): readonly Row[] {
  return [
    met<unknown>({
      limit: 'Inspector `limit`',
      value: '1 to 500, default 100',
      meet: listed,
      below: [
        [0, [400, 'invalid_request']],
        [2, 2],
      ],
      at: [
        [1, 1],
        [500, 500],
      ],
      above: [[501, [400, 'invalid_request']]],
      leftOut: 100,
    }),
    elsewhere('Inspector retention', '7, 30, 90 or 365 days by plan', [
      'src/control/inspector/service.test.ts',
      'a record is kept for as long as the plan of its organization says, and no longer',
    ]),
    elsewhere(
      'Recorded requests on the disk',
      '1,024 MB (`inspector.max_stored_mb`); then the oldest of the largest organization are deleted',
      [
        'src/control/db/usage/usage-faults.test.ts',
        'over the bound the oldest of the organization that holds most go, and others keep theirs',
      ],
    ),
    elsewhere(
      'Free space that recordings leave',
      '5% of the disk, 64 MB to 1 GB, a third at most (`inspector.min_free_mb`); below it, nothing is recorded',
      [
        'src/control/db/disk/floor.test.ts',
        'disk floor: a twentieth of the disk stays free, within bounds that fit small and large disks',
      ],
    ),
    elsewhere('Searches at the same time', '8 per organization, 64 in total', [
      'src/control/db/usage/usage-store.test.ts',
      'an organization reads so much at once and no more, and so do all together',
    ]),
    elsewhere(
      'Time of a search',
      '20 ms; 80 ms in headers, bodies, addresses and trace ids; the next page continues it',
      [
        'src/control/db/usage/search/content.test.ts',
        'search: it goes on where its time was up, without a gap, and replays are searched too',
      ],
    ),
    elsewhere('Mask rules per tunnel', '50', [
      'src/control/inspector/settings/service.test.ts',
      'mask rules: a tunnel has at most 50',
    ]),
    elsewhere(
      'Recorded frames of a WebSocket',
      'the first 200 messages and control frames, 16 KB of each, 128 KB in total; the others are counted',
      [
        'src/data/inspect/websocket/record-websockets.test.ts',
        'WebSocket: a long message is truncated, and more than may be kept is counted',
      ],
    ),
    elsewhere(
      'Memory for frames of WebSockets',
      'a quarter of `inspector.max_memory_mb`; then frames are only counted',
      [
        'src/data/inspect/websocket/record-websockets.test.ts',
        'WebSocket: no memory for frames leaves the count and the record',
      ],
    ),
    elsewhere('Decoded frames of a WebSocket', '256 KB per message, 1 MB per connection; the others stay compressed', [
      'src/control/inspector/websockets/inflate-frames.test.ts',
      'frames: what is longer than is kept is truncated, and what is far too long stays compressed',
    ]),
    elsewhere('Links to recorded requests', '200 per organization, one minute to 30 days each', [
      'src/control/inspector/shares/service.test.ts',
      'share: an organization has at most 200 links at a time',
    ]),
    elsewhere('Readers of such links', '60 at once per address, then 1 per second', [
      'src/control/inspector/shares/service.test.ts',
      'share: a reader that opens too many links is slowed down',
    ]),
    elsewhere('Live feeds', '20 per user, 1,000 in total', [
      'src/control/inspector/live-feed.test.ts',
      'a person has only so many live feeds, and the server has',
    ]),
    elsewhere('Unread data of a live feed', '1 MB; then it is closed', [
      'src/control/inspector/live-feed.test.ts',
      'live feed: a reader that takes nothing is cut off, and delays no other',
    ]),
    elsewhere('Unread data of all live feeds', '64 MB; then the slowest is closed', [
      'src/control/inspector/live-feed.test.ts',
      'so much waits for all readers together and no more: the one that leaves most is cut',
    ]),
    elsewhere('Messages of live feeds', '2,000 per second per organization, 10,000 in total; more are omitted', [
      'src/control/inspector/live-feed.test.ts',
      'only so many messages are sent in a second, of an organization and in all; what is left out is counted',
    ]),
    elsewhere(
      'HTTP archive',
      '16 MB; the oldest requests are omitted',
      [
        'src/control/inspector/service.test.ts',
        'an archive of many ends where it would become too large, and says how many it left out',
      ],
      [
        'src/control/inspector/export/har.test.ts',
        'what counts is what comes out: bodies that stand for a thousand times as much make no larger archive',
      ],
    ),
    elsewhere('Compressed body in an archive', 'decoded up to 1 MB, else stored as received', [
      'src/control/inspector/export/har.test.ts',
      'a body with a content coding is shown without it; one that can not be opened, or holds too much, as it came',
    ]),
    elsewhere(
      'Archives at the same time',
      '1 per organization, 1 per user, 4 in total, 60 seconds each',
      [
        'src/control/inspector/service.test.ts',
        'an organization has one archive made at a time, all have a few; the next one hears so, and gets it when one is done',
      ],
      ['src/control/core/http/bodies/written-in-parts.test.ts', 'a reader that takes nothing is cut off in time'],
    ),
  ];
}
