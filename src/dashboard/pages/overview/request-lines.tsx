/** The latest requests in short, on the overview and on a tunnel's page. What is in them is the visitors': text alone. */
import { Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { durationText } from '../../parts/format.ts';
import { visiblePath } from '../inspector/visible-text.ts';
import { statusTone, statusWord } from './status.ts';

type Recorded = Schemas['InspectedRequest'];

interface RequestLinesProps {
  readonly requests: readonly Recorded[];
  /** The tunnel of one; left out where all are of the same. */
  readonly tunnelOf?: (request: Recorded) => string;
}

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
      <Group gap="xs" wrap="nowrap">
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
