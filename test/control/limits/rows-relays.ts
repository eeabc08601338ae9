/** The rows of the table of limits about the relays of private networks: all are met in the data plane. */
import { elsewhere, type Row } from './row.ts';

const FLOWS = 'src/data/relay/flows.test.ts';
const RING = 'src/wire/relay-ring.test.ts';

export function relayLimits(): readonly Row[] {
  return [
    elsewhere(
      'Clients at the same time',
      '1,024 per network, 16,384 per server',
      [FLOWS, 'the unproven flow that was silent for longest goes, and no proven one'],
      [FLOWS, 'forged addresses at one network displace its own and no other'],
      [FLOWS, 'a node full of proven clients has room for the first few of each network'],
      [FLOWS, 'who fills the node with clients of his own making gives up to another organization, up to its share'],
    ),
    elsewhere(
      'New clients per network',
      '500 at once, then 100 per second',
      [FLOWS, 'a network gets 500 new clients at once, and 100 a second'],
      [
        'src/data/relay/flow-filter.test.ts',
        'flow filter: a flood from forged addresses blocks no client that knows the network',
      ],
    ),
    elsewhere('Timeout of a silent client', '180 seconds', [
      FLOWS,
      'a client that is silent for three minutes is forgotten, proven or not',
    ]),
    elsewhere(
      'Datagrams that wait for the TLS session',
      '256 and 384 KB per direction; then the oldest are dropped',
      [RING, 'over 256 datagrams the oldest go, and are counted'],
      [RING, 'over 384 KB the oldest go until the newest has room'],
      ['src/data/relay/relay.test.ts', 'an unauthenticated client has half of the ring, and displaces no other'],
    ),
    elsewhere('Datagram size', '65,495 bytes', [
      'src/wire/relay-records.test.ts',
      'the longest datagram passes in pieces, and the next record behind it',
    ]),
  ];
}
