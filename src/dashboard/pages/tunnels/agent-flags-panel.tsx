/** What the online agent has set by flags: shown, and changed only where the agent runs. */
import { Badge, Stack, Text } from '@mantine/core';
import { Panel } from '../../parts/panel.tsx';
import { agentFlags } from './agent-flags.ts';
import type { TunnelDetail } from './tunnel-queries.ts';

export function AgentFlagsPanel({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const flags = agentFlags(tunnel);
  if (flags.length === 0) return null;
  return (
    <Panel
      title="Agent flags"
      about="Visitors must pass these too. They end when the agent disconnects; to change them, restart the agent with other flags."
      actions={<Badge variant="light">Set by the agent</Badge>}
    >
      <Stack gap="xs">
        {flags.map(({ label, value }) => (
          <Text key={label} size="sm">
            {label}: {value}
          </Text>
        ))}
      </Stack>
    </Panel>
  );
}
