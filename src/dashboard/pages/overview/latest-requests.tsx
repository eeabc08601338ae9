/** The last few requests, and where all of them are. What is in them is the visitors': text alone. */
import { Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { durationText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { visiblePath } from '../inspector/visible-text.ts';
import { More } from './live-tunnels.tsx';
import { useLatestRequests, useRecording, useTunnels } from './overview-queries.ts';
import { statusTone, statusWord } from './status.ts';

const MOST = 8;

export function LatestRequests() {
  const query = useLatestRequests(MOST);
  const recording = useRecording().data;
  return (
    <Panel title="Latest requests" actions={<More href="/inspector">Inspector</More>}>
      {recording?.enabled === false ? (
        <Text size="sm" c="dimmed">
          Recording is off on this server. Its operator can turn it on.
        </Text>
      ) : (
        <Loaded query={query} lines={3}>
          {(requests) => <Shown requests={requests} unrecorded={recording?.not_recorded ?? []} />}
        </Loaded>
      )}
    </Panel>
  );
}

type Recorded = Schemas['InspectedRequest'];

interface ShownProps {
  readonly requests: readonly Recorded[];
  /** Tunnels whose agents want nothing recorded. */
  readonly unrecorded: readonly string[];
}

function Shown({ requests, unrecorded }: ShownProps) {
  const names = new Map(useTunnels().data?.map(({ id, subdomain }) => [id, subdomain]));
  const silent = unrecorded.flatMap((id) => names.get(id) ?? []);
  return (
    <>
      {silent.length > 0 && (
        <Text size="sm" c="dimmed">
          Not recorded: {listed(silent)}. Started with --no-inspect.
        </Text>
      )}
      {requests.length === 0 ? (
        <None />
      ) : (
        <RequestLines requests={requests} tunnelOf={({ tunnel_id: id }) => names.get(id) ?? 'a deleted tunnel'} />
      )}
    </>
  );
}

const NAMED = 5;

function listed(names: readonly string[]): string {
  const more = names.length - NAMED;
  return names.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function None() {
  return (
    <Text size="sm" c="dimmed">
      No requests yet.
    </Text>
  );
}

interface RequestLinesProps {
  readonly requests: readonly Recorded[];
  /** The tunnel of one; left out where all are of the same. */
  readonly tunnelOf?: (request: Recorded) => string;
}

/** The latest requests in short, on the overview and on a tunnel's page. What is in them is the visitors': text alone. */
export function RequestLines({ requests, tunnelOf }: RequestLinesProps) {
  return (
    <ul className="culvert-rows" aria-label="Latest requests">
      {requests.map((request) => (
        <li key={request.id}>
          <Line request={request} tunnel={tunnelOf?.(request)} />
        </li>
      ))}
    </ul>
  );
}

function Line({ request, tunnel }: { readonly request: Recorded; readonly tunnel: string | undefined }) {
  const { id, method, path, status, outcome, latency_ms: latencyMs, timestamp } = request;
  return (
    <Link href={`/inspector/${id}`} className="culvert-row-link">
      <Group gap="xs" className="culvert-request-line">
        <StateBadge tone={statusTone(status, outcome)}>{statusWord(status)}</StateBadge>
        <Text size="sm" className="culvert-mono culvert-line">
          {method} <bdi>{visiblePath(path)}</bdi>
        </Text>
        {tunnel === undefined && (
          <>
            <Text size="xs" c="dimmed" ta="right" miw={60} className="culvert-number culvert-fixed">
              {durationText(latencyMs)}
            </Text>
            <Text size="xs" c="dimmed" ta="right" miw={92} className="culvert-number culvert-fixed" component="div">
              <Ago at={timestamp} />
            </Text>
          </>
        )}
      </Group>
      {tunnel !== undefined && (
        <Group justify="space-between" gap="sm" wrap="nowrap">
          <Text size="xs" c="dimmed" truncate>
            {tunnel}
          </Text>
          <Text size="xs" c="dimmed" className="culvert-number culvert-fixed" component="div">
            {durationText(latencyMs)}, <Ago at={timestamp} />
          </Text>
        </Group>
      )}
    </Link>
  );
}
