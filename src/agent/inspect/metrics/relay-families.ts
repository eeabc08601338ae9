/** What `/metrics` says of private networks. Names and labels are stable: dashboards and alerts are made of them. */
import type { RelayView } from '../../events.ts';
import type { Family, Sample } from './exposition.ts';

const STATES = ['online', 'waiting', 'ended'] as const;

/** None for an agent that carries no network. */
export function relayFamilies(relays: readonly RelayView[]): Family[] {
  if (relays.length === 0) return [];
  const each = (value: (relay: RelayView) => number): Sample[] => {
    return relays.map((relay) => ({ labels: { relay: relay.name }, value: value(relay) }));
  };
  const both = (fromClients: (relay: RelayView) => number, fromService: (relay: RelayView) => number): Sample[] => {
    return relays.flatMap((relay) => [
      { labels: { relay: relay.name, from: 'clients' }, value: fromClients(relay) },
      { labels: { relay: relay.name, from: 'service' }, value: fromService(relay) },
    ]);
  };
  return [
    {
      name: 'culvert_agent_relays',
      help: 'Private networks by state.',
      type: 'gauge',
      samples: STATES.map((state) => {
        return { labels: { state }, value: relays.filter((relay) => relay.state === state).length };
      }),
    },
    {
      name: 'culvert_agent_relay_udp',
      help: 'Whether datagrams of a private network reach the server over UDP (1), or over the session or not at all (0).',
      type: 'gauge',
      samples: each(({ path }) => (path === 'udp' ? 1 : 0)),
    },
    {
      name: 'culvert_agent_relay_clients',
      help: 'Clients of a private network that sent data in the last three minutes.',
      type: 'gauge',
      samples: each(({ clients }) => clients),
    },
    {
      name: 'culvert_agent_relay_packets_total',
      help: 'Datagrams of a private network by sender.',
      type: 'counter',
      samples: both(
        ({ packetsIn }) => packetsIn,
        ({ packetsOut }) => packetsOut,
      ),
    },
    {
      name: 'culvert_agent_relay_bytes_total',
      help: 'Bytes of the datagrams of a private network by sender.',
      type: 'counter',
      samples: both(
        ({ bytesIn }) => bytesIn,
        ({ bytesOut }) => bytesOut,
      ),
    },
    {
      name: 'culvert_agent_relay_dropped_total',
      help: 'Datagrams of a private network that this agent dropped.',
      type: 'counter',
      samples: each(({ dropped }) => dropped),
    },
  ];
}
