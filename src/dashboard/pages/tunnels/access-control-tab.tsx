/** Access control of a tunnel: password and visitor login. */
import { Alert, Stack } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { AgentFlagsPanel } from './agent-flags-panel.tsx';
import { BasicPanel } from './basic-panel.tsx';
import type { TunnelDetail } from './tunnel-queries.ts';
import { VisitorPanel } from './visitor-panel.tsx';

export function AccessControlTab({ tunnel }: { readonly tunnel: TunnelDetail }) {
  if (tunnel.protocol === 'tcp')
    return (
      <Stack gap="md">
        <AgentFlagsPanel tunnel={tunnel} />
        <NothingForTcp />
      </Stack>
    );
  return (
    <Stack gap="md">
      <AgentFlagsPanel tunnel={tunnel} />
      <BasicPanel tunnel={tunnel} />
      <VisitorPanel tunnel={tunnel} />
    </Stack>
  );
}

/** Why a TCP tunnel has neither. */
function NothingForTcp() {
  return (
    <Alert color="gray" icon={<IconInfoCircle size={18} />}>
      Passwords and visitor login do not apply to TCP tunnels. The policy can block addresses. Your service must
      authenticate its clients.
    </Alert>
  );
}
