/** The families of `/metrics`. Names and labels are stable: dashboards and alerts are made of them. */
import type { AgentSource } from '../agent-source.ts';
import type { EventFeed } from '../event-feed.ts';
import type { Family, Sample } from './exposition.ts';
import { relayFamilies } from './relay-families.ts';
import type { Watch } from '../watch.ts';

const STATES = ['online', 'waiting', 'ended'] as const;

export function metricFamilies(source: AgentSource, watch: Watch, feed: EventFeed): Family[] {
  const { view, bytes } = source;
  const { tally, ring } = watch;
  const gauge = family('gauge');
  const counter = family('counter');
  return [
    gauge('culvert_agent_info', 'Version of the agent.', [{ labels: { version: source.version }, value: 1 }]),
    gauge('culvert_agent_up', 'Whether the agent is connected to its server (1 or 0).', one(source.isOnline ? 1 : 0)),
    counter('culvert_agent_sessions_total', 'Sessions established with the server.', one(source.sessions)),
    counter(
      'culvert_agent_reconnects_total',
      'Reconnections after the first session.',
      one(Math.max(0, source.sessions - 1)),
    ),
    gauge(
      'culvert_agent_tunnels',
      'Tunnels by state.',
      STATES.map((state) => {
        const value = view?.tunnels.filter((tunnel) => tunnel.state === state).length ?? 0;
        return { labels: { state }, value };
      }),
    ),
    gauge('culvert_agent_streams', 'Streams in flight.', one(view?.inFlight ?? 0)),
    counter('culvert_agent_connections_total', 'Connections to services.', connections(watch)),
    counter('culvert_agent_bytes_total', 'Bytes of streams by sender.', [
      { labels: { from: 'visitors' }, value: bytes.toSocket },
      { labels: { from: 'services' }, value: bytes.fromSocket },
    ]),
    counter(
      'culvert_agent_requests_total',
      'Responses by status class, including those that the server sent for an unreachable service.',
      requests(watch),
    ),
    ...relayFamilies(view?.relays ?? []),
    gauge('culvert_agent_page_records', 'Requests that the local inspector holds.', one(ring.size)),
    gauge('culvert_agent_page_bytes', 'Memory used by requests in the local inspector, in bytes.', one(ring.bytes)),
    counter(
      'culvert_agent_page_not_kept_total',
      'Requests that were not recorded because of the limit per second.',
      one(tally.notKept),
    ),
    counter('culvert_agent_page_streams_let_go_total', 'Streams that the inspector could not parse.', one(tally.letGo)),
    counter('culvert_agent_page_faults_total', 'Internal errors of the local inspector.', one(tally.faults)),
    gauge('culvert_agent_page_watchers', 'Open live views of the local inspector.', one(feed.watchers)),
    counter(
      'culvert_agent_page_watchers_cut_total',
      'Live views that were closed because they read too slowly.',
      one(tally.watchersCut),
    ),
  ];
}

function family(type: Family['type']) {
  return (name: string, help: string, samples: readonly Sample[]): Family => ({ name, help, type, samples });
}

function one(value: number): Sample[] {
  return [{ value }];
}

function connections(watch: Watch): Sample[] {
  return watch.tunnels().map(({ spec, tally }) => ({ labels: { tunnel: spec.name }, value: tally.totalConnections }));
}

function requests(watch: Watch): Sample[] {
  return watch
    .tunnels()
    .filter(({ spec }) => spec.protocol !== 'tcp' && spec.inspect !== false)
    .flatMap(({ spec, tally }) =>
      [2, 3, 4, 5].map((k) => ({ labels: { tunnel: spec.name, status: `${k}xx` }, value: tally.byClass[k] as number })),
    );
}
