/** The latest requests of a tunnel's visitors; the inspector has all of them. */
import { Text } from '@mantine/core';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { More } from '../overview/live-tunnels.tsx';
import { RequestLines } from '../overview/request-lines.tsx';
import { useLatestRequests } from './tunnel-queries.ts';

const SHOWN = 10;

export function LatestRequests({ tunnelId }: { readonly tunnelId: string }) {
  const latest = useLatestRequests(tunnelId, SHOWN);
  return (
    <Panel title="Latest requests" actions={<More href={`/inspector?tunnel=${tunnelId}`}>All in the inspector</More>}>
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
