/** The latest requests of a tunnel's visitors; the inspector has all of them. */
import { Button, Text } from '@mantine/core';
import { Link } from 'wouter';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RequestLines } from '../overview/request-lines.tsx';
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
            <RequestLines requests={requests} />
          )
        }
      </Loaded>
    </Panel>
  );
}
