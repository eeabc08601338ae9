/** The last few requests, and where all of them are. What is in them is the visitors': text alone. */
import { Text } from '@mantine/core';
import type { Schemas } from '../../api/types.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { More } from './live-tunnels.tsx';
import { useLatestRequests, useRecording, useTunnels } from './overview-queries.ts';
import { RequestLines } from './request-lines.tsx';

const MOST = 8;

export function LatestRequests() {
  const query = useLatestRequests(MOST);
  const recording = useRecording().data;
  return (
    <Panel title="Latest requests" actions={<More href="/inspector">Inspector</More>}>
      {recording?.enabled === false ? (
        <Text size="sm" c="dimmed">
          This server records no requests: its operator has turned that off.
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
        <RequestLines requests={requests} tunnelOf={({ tunnel_id: id }) => names.get(id) ?? 'a tunnel that is gone'} />
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
      None yet. What visitors ask is here a moment later.
    </Text>
  );
}
