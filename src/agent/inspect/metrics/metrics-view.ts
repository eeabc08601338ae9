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
    gauge('culvert_agent_info', 'The agent, by its version.', [{ labels: { version: source.version }, value: 1 }]),
    gauge('culvert_agent_up', 'Whether the agent has a session at its server.', one(source.isOnline ? 1 : 0)),
    counter('culvert_agent_sessions_total', 'Sessions that the server has welcomed.', one(source.sessions)),
    counter(
      'culvert_agent_reconnects_total',
      'Reconnections after the first session.',
      one(Math.max(0, source.sessions - 1)),
    ),
    gauge(
      'culvert_agent_tunnels',
      'Tunnels by their state.',
      STATES.map((state) => {
        const value = view?.tunnels.filter((tunnel) => tunnel.state === state).length ?? 0;
        return { labels: { state }, value };
      }),
    ),
    gauge('culvert_agent_streams', 'Streams in flight.', one(view?.inFlight ?? 0)),
    counter('culvert_agent_connections_total', 'Connections to services.', connections(watch)),
    counter('culvert_agent_bytes_total', 'Bytes of streams, by where they came from.', [
      { labels: { from: 'visitors' }, value: bytes.toSocket },
      { labels: { from: 'services' }, value: bytes.fromSocket },
    ]),
    counter(
      'culvert_agent_requests_total',
      'Responses by status class, including those that the server sent for an unreachable service.',
      requests(watch),
    ),
    ...relayFamilies(view?.relays ?? []),
    gauge('culvert_agent_page_records', 'Requests that the page can show.', one(ring.size)),
    gauge('culvert_agent_page_bytes', 'Memory that they hold.', one(ring.bytes)),
    counter('culvert_agent_page_not_kept_total', 'Requests beyond what is kept per second.', one(tally.notKept)),
    counter('culvert_agent_page_streams_let_go_total', 'Streams that the inspector could not parse.', one(tally.letGo)),
    counter('culvert_agent_page_faults_total', 'Faults of the page itself.', one(tally.faults)),
    gauge('culvert_agent_page_watchers', 'Open live lists of the local inspector.', one(feed.watchers)),
    counter('culvert_agent_page_watchers_cut_total', 'Watchers that did not keep up.', one(tally.watchersCut)),
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
