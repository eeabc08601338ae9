/** The agent that serves a tunnel now. */
import { Stack, Text } from '@mantine/core';
import { Ago } from '../../parts/ago.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type TunnelDetail, useServing } from './tunnel-queries.ts';

export function ServedBy({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const { id, online } = tunnel;
  const serving = useServing(id);
  return (
    <Panel title="Served by">
      <Loaded query={serving} lines={1}>
        {(agents) => (
          <Stack gap={4}>
            {agents.length === 0 ? (
              <Text size="sm" c="dimmed">
                {online ? 'An agent that has just connected.' : 'No agent.'}
              </Text>
            ) : (
              agents.map(({ agent_id: agent, remote_ip: ip, connected_at: at }) => (
                <Text key={agent} size="sm" component="div">
                  An agent at <span className="culvert-mono">{ip}</span>, connected <Ago at={at} />
                </Text>
              ))
            )}
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}
