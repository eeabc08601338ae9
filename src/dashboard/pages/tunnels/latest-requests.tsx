/** The latest requests of a tunnel's visitors; the inspector has all of them. */
import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { durationText } from '../../parts/words.ts';
import { visiblePath } from '../inspector/visible-text.ts';
import { useLatestRequests } from './tunnel-queries.ts';

const SHOWN = 10;

export function LatestRequests({ tunnelId }: { readonly tunnelId: string }) {
  const latest = useLatestRequests(tunnelId, SHOWN);
  return (
    <Panel
      title="Latest requests"
      actions={
        <Button component={Link} href={`/inspector?tunnel=${tunnelId}`} variant="subtle" size="compact-sm">
          All in the inspector
        </Button>
      }
    >
      <Loaded query={latest}>
        {(requests) =>
          requests.length === 0 ? (
            <Text size="sm" c="dimmed">
              None is recorded yet. They are here as soon as visitors come.
            </Text>
          ) : (
            <ul className="culvert-rows">
              {requests.map((request) => (
                <Line key={request.id} request={request} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

/** What stands here was written by a visitor: it is text, and the link leads to the record. */
function Line({ request }: { readonly request: Schemas['InspectedRequest'] }) {
  const { id, method, path, status, code, latency_ms: ms, timestamp } = request;
  return (
    <li>
      <Group gap="sm" wrap="nowrap" justify="space-between">
        <Anchor component={Link} href={`/inspector/${id}`} size="sm" c="inherit" truncate className="culvert-mono">
          {method} <bdi>{visiblePath(path)}</bdi>
        </Anchor>
        <Group gap="sm" wrap="nowrap" className="culvert-fixed culvert-number">
          <Text size="sm" fw={600} {...(isBad(status) && { c: 'var(--mantine-color-error)' })} title={code ?? ''}>
            {status === 0 ? 'none' : status}
          </Text>
          <Text size="sm" c="dimmed" visibleFrom="sm">
            {durationText(ms)}
          </Text>
          <Text size="sm" c="dimmed" component="div">
            <Ago at={timestamp} />
          </Text>
        </Group>
      </Group>
    </li>
  );
}

function isBad(status: number): boolean {
  return status === 0 || status >= 500;
}
